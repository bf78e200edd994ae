/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the config of a world: it is refused by name, or it runs, and each of its steps is
 * verified; led in other steps it is the same world.
 *
 *      two bytes a field     0 .. 251         as it is in a world of 700 pages, or near
 *                            252 .. 255       0, 1, the most that fits, half of that
 *
 * A world that would be large is checked alone.
 */
#include "input.h"

#include "swapsim/vm.h"

enum { PAGES_AT_MOST = 4096, STEPS_AT_MOST = 400, STEP_WORK = 50 };

/* A field: usual by the step of its unit, or an end of what its type holds. */
static uint64_t field(struct input *input, uint64_t usual, uint64_t unit, uint64_t most)
{
	const uint64_t ends[] = { 0, 1, most, most / 2 };
	const uint8_t kind = input_byte(input);
	const uint8_t steps = input_byte(input);

	if (kind >= 252)
		return ends[kind - 252];
	return kind % 2 ? usual : steps * unit;
}

static void read_memory(struct input *input, struct sws_vm_config *config)
{
	config->dma32_pages = (uint32_t)field(input, 300, 4, UINT32_MAX);
	config->normal_pages = (uint32_t)field(input, 400, 4, UINT32_MAX);
	config->program_pages = (uint32_t)field(input, 0, 1, UINT32_MAX);
	config->cached_pages = (uint32_t)field(input, 0, 1, UINT32_MAX);
	config->min_free_pages = (uint32_t)field(input, 24, 1, UINT32_MAX);
	config->reserve_ratio = (uint32_t)field(input, 64, 1, UINT32_MAX);
	config->swappiness = (uint32_t)field(input, 60, 1, UINT32_MAX);
	config->swap_pages = (uint32_t)field(input, 600, 4, UINT32_MAX);
	config->readahead_shift = (uint32_t)field(input, 3, 1, UINT32_MAX);
	config->dirty_percent = (uint32_t)field(input, 20, 1, UINT32_MAX);
	config->background_percent = (uint32_t)field(input, 10, 1, UINT32_MAX);
}

static void read_devices(struct input *input, struct sws_vm_config *config)
{
	config->disk_pages = (uint32_t)field(input, 5000, 50, UINT32_MAX);
	config->disk_rate = field(input, 5000, 100, UINT64_MAX);
	config->seek_near_ns = field(input, 500000, 100000, UINT64_MAX);
	config->seek_far_ns = field(input, 4000000, 1000000, UINT64_MAX);
	config->nr_requests = (uint32_t)field(input, 16, 1, UINT32_MAX);
	config->request_pages = (uint32_t)field(input, 16, 1, UINT32_MAX);
	config->delays_allocation = input_byte(input) % 2;
	config->nfs = input_byte(input) % 2;
	config->net_rate = field(input, 5000, 100, UINT64_MAX);
	config->server_rate = field(input, 2000, 100, UINT64_MAX);
	config->server_seek_ns = field(input, 1000000, 100000, UINT64_MAX);
	config->write_pages = (uint32_t)field(input, 16, 1, UINT32_MAX);
}

static void read_tasks(struct input *input, struct sws_vm_config *config, uint32_t *files)
{
	config->items = (uint32_t)field(input, 110, 1, UINT32_MAX);
	config->item_pages = (uint32_t)field(input, 5, 1, UINT32_MAX);
	config->set_percent = (uint32_t)field(input, 33, 1, UINT32_MAX);
	config->write_delay_ns = field(input, 0, 1000000, UINT64_MAX);
	config->serve_ns = field(input, 100000000, 10000000, UINT64_MAX);
	config->rounds = 2;
	config->file_pages = files;
	files[0] = (uint32_t)field(input, 150, 4, UINT32_MAX);
	files[1] = (uint32_t)field(input, 400, 4, UINT32_MAX);
	config->hz = (uint32_t)field(input, 1000, 50, UINT32_MAX);
	config->seed = input_byte(input);
}

static bool is_small(const struct sws_vm_config *config)
{
	return (uint64_t)config->dma32_pages + config->normal_pages <= PAGES_AT_MOST &&
	       config->swap_pages <= PAGES_AT_MOST && config->file_pages[0] <= PAGES_AT_MOST &&
	       config->file_pages[1] <= PAGES_AT_MOST &&
	       (uint64_t)config->items * config->item_pages <= PAGES_AT_MOST;
}

/* Both to the same event: how far one has come tells the other where to stop. */
static void run_both(struct sws_vm *vm, struct sws_vm *other)
{
	const char *reason = NULL;
	bool more = true;

	for (uint32_t step = 0; step < STEPS_AT_MOST && more; step++) {
		MUST(sws_vm_run(vm, UINT64_MAX, STEP_WORK, &more) == SWS_OK);
		MUST(sws_vm_work(vm) < STEP_WORK + SWS_VM_EVENT_WORK_MAX);
		MUST(sws_vm_verify(vm, &reason) == SWS_OK);
	}
	more = true;
	while (more && sws_vm_events(other) < sws_vm_events(vm))
		MUST(sws_vm_run(other, UINT64_MAX, 1, &more) == SWS_OK);
	MUST(sws_vm_events(other) == sws_vm_events(vm));
	MUST(sws_vm_digest(other) == sws_vm_digest(vm));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct sws_vm_costs costs = { 43000, 1500, 1500, 3000, 300,
						   150,   500,  400,  5000, 300 };
	struct input input = { .bytes = data, .left = size };
	struct sws_vm_config config;
	struct sws_vm *vm = NULL;
	struct sws_vm *other = NULL;
	uint32_t files[2];

	sws_vm_config_init(&config);
	config.costs = costs;
	config.rules = (enum sws_stall_set)(input_byte(&input) % 14);
	read_memory(&input, &config);
	read_devices(&input, &config);
	read_tasks(&input, &config, files);
	if (sws_vm_check(&config) != SWS_VM_NO_PROBLEM) {
		MUST(sws_vm_new(&config, &vm) == SWS_ERROR_BAD_CONFIG && !vm);
		return 0;
	}
	if (!is_small(&config))
		return 0;
	MUST(sws_vm_new(&config, &vm) == SWS_OK);
	MUST(sws_vm_new(&config, &other) == SWS_OK);
	run_both(vm, other);
	sws_vm_free(vm);
	sws_vm_free(other);
	return 0;
}
