/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweeps/sweeps.c - one run. A page is an index; its neighbours on its list are indexes, too. Behind
 * the pages are the heads of the lists, two for each node, so that no list has a first or last page
 * that differs from the others. Two nodes, six pages, 4 and 1 on the inactive list of node 1:
 *
 *      index     0 1 2 3 4 5 | 6     7     8     9
 *      what      pages       | 0 in  0 act 1 in  1 act
 *      after         8   1   |             4
 *      before        4   8   |             1
 */
#include "swapsim/sweeps.h"

#include <stddef.h>

/* Where a page is. */
enum state { NEW = 0, SWAPPED = 1, RESIDENT = 2 };

/* The lists of a node. */
enum side { INACTIVE = 0, ACTIVE = 1, SIDES = 2 };

struct sweep_page {
	uint32_t after;
	uint32_t before;
	uint8_t state;
	uint8_t node;
	uint8_t side;
	bool referenced;
};

struct sweep_node {
	uint32_t free;
	uint32_t count[SIDES];
};

struct sweep_thread {
	uint32_t first;
	uint32_t share;
	uint64_t accesses;
	uint64_t clock;
	bool faulting;
	bool ended;
};

struct run {
	const struct sws_sweeps_config *config;
	struct sweep_page *pages;
	struct sweep_thread threads[SWS_SWEEPS_TASKS_MAX];
	struct sweep_node nodes[SWS_SWEEPS_NODES_MAX];
	uint32_t used;
	uint32_t running;
	uint32_t faulting;
	struct sws_sweeps_result *result;
};

void sws_sweeps_config_init(struct sws_sweeps_config *config)
{
	*config = (struct sws_sweeps_config){ .nodes = 1, .list_pages = 1 };
}

static bool is_within(uint64_t value, uint64_t low, uint64_t high)
{
	return value >= low && value <= high;
}

static bool is_valid(const struct sws_sweeps_config *config)
{
	bool valid = is_within(config->threads, 1, SWS_SWEEPS_TASKS_MAX) &&
		     is_within(config->sweeps, 1, SWS_SWEEPS_MAX) &&
		     is_within(config->pages, config->threads, SWS_SWEEPS_PAGES_MAX) &&
		     is_within(config->nodes, 1, SWS_SWEEPS_NODES_MAX) &&
		     is_within(config->memory, 16 * config->nodes, SWS_SWEEPS_PAGES_MAX) &&
		     is_within(config->slots, 1, SWS_SWEEPS_PAGES_MAX) &&
		     is_within(config->list_pages, 1, SWS_SWEEPS_LIST_MAX) &&
		     config->active_per_inactive &&
		     is_within(config->cpus, 1, SWS_SWEEPS_TASKS_MAX) &&
		     config->kswapds <= SWS_SWEEPS_TASKS_MAX &&
		     config->access_ns <= SWS_SWEEPS_NS_MAX && config->fault_ns && config->factors;

	for (uint32_t i = 0; valid && i < config->threads; i++)
		valid = is_within(config->fault_ns[i], 1, SWS_SWEEPS_NS_MAX) &&
			is_within(config->factors[i], 1, SWS_SWEEPS_FACTOR_MAX);
	return valid;
}

static uint32_t head_of(const struct run *self, uint32_t node, enum side side)
{
	return self->config->pages + SIDES * node + side;
}

static void add_to(struct run *self, uint32_t node, enum side side, uint32_t index)
{
	struct sweep_page *pages = self->pages;
	const uint32_t head = head_of(self, node, side);
	const uint32_t last = pages[head].before;

	pages[index].node = (uint8_t)node;
	pages[index].side = (uint8_t)side;
	pages[index].before = last;
	pages[index].after = head;
	pages[last].after = index;
	pages[head].before = index;
	self->nodes[node].count[side]++;
}

static void take(struct run *self, uint32_t index)
{
	struct sweep_page *pages = self->pages;

	pages[pages[index].before].after = pages[index].after;
	pages[pages[index].after].before = pages[index].before;
	self->nodes[pages[index].node].count[pages[index].side]--;
}

/* Returns false if the page has to go out and no slot is left. */
static bool scan(struct run *self, uint32_t node, enum side side)
{
	const uint32_t index = self->pages[head_of(self, node, side)].after;
	struct sweep_page *page = &self->pages[index];

	if (side == INACTIVE && !page->referenced) {
		if (self->used == self->config->slots)
			return false;
		take(self, index);
		page->state = SWAPPED;
		self->used++;
		self->nodes[node].free++;
		self->result->pages_out++;
		return true;
	}
	take(self, index);
	page->referenced = false;
	add_to(self, node, side == ACTIVE ? INACTIVE : ACTIVE, index);
	return true;
}

/*
 * Models shrink_active_list if the inactive list is low, else shrink_inactive_list, until a page of
 * the node is free: lists of list_pages, oldest first. Returns false if no slot is left.
 */
static bool reclaim(struct run *self, uint32_t number)
{
	struct sweep_node *node = &self->nodes[number];
	const uint64_t ratio = self->config->active_per_inactive;

	while (!node->free) {
		const enum side side =
			node->count[INACTIVE] * ratio < node->count[ACTIVE] ? ACTIVE : INACTIVE;
		const uint32_t most = node->count[side] < self->config->list_pages
					      ? node->count[side]
					      : self->config->list_pages;

		for (uint32_t i = 0; i < most; i++)
			if (!scan(self, number, side))
				return false;
	}
	return true;
}

/* Takes a free page of the first node from `home` on that has one. Returns false if none has. */
static bool get_free(struct run *self, uint32_t home, uint32_t *node)
{
	const uint32_t nodes = self->config->nodes;

	for (uint32_t i = 0; i < nodes; i++) {
		*node = (home + i) % nodes;
		if (self->nodes[*node].free) {
			self->nodes[*node].free--;
			return true;
		}
	}
	return false;
}

/* Brings a page into memory. Returns false if no slot is left for a page that has to go out. */
static bool fault(struct run *self, uint32_t home, uint32_t index)
{
	struct sweep_page *page = &self->pages[index];
	uint32_t node = 0;

	self->result->faults++;
	if (!get_free(self, home, &node)) {
		for (uint32_t i = 0; i < self->config->nodes; i++)
			if (!reclaim(self, i))
				return false;
		get_free(self, home, &node);
	}
	self->used -= page->state == SWAPPED;
	page->state = RESIDENT;
	add_to(self, node, ACTIVE, index);
	return true;
}

static void set_faulting(struct run *self, struct sweep_thread *thread, bool faulting)
{
	self->faulting += (uint32_t)faulting - (uint32_t)thread->faulting;
	thread->faulting = faulting;
}

/* Frees the memory and the slots of a thread. */
static void end(struct run *self, struct sweep_thread *thread)
{
	set_faulting(self, thread, false);
	thread->ended = true;
	self->running--;
	for (uint32_t i = thread->first; i < thread->first + thread->share; i++) {
		struct sweep_page *page = &self->pages[i];

		if (page->state == RESIDENT) {
			take(self, i);
			self->nodes[page->node].free++;
		}
		self->used -= page->state == SWAPPED;
		page->state = NEW;
		page->referenced = false;
	}
}

/* Returns the number of the thread whose next access is the earliest, the lowest of several. */
static uint32_t next_thread(const struct run *self)
{
	uint32_t next = SWS_SWEEPS_TASKS_MAX;

	for (uint32_t i = 0; i < self->config->threads; i++)
		if (!self->threads[i].ended && (next == SWS_SWEEPS_TASKS_MAX ||
						self->threads[i].clock < self->threads[next].clock))
			next = i;
	return next;
}

static void spend(struct run *self, uint32_t number, bool faulted)
{
	const struct sws_sweeps_config *config = self->config;
	const uint64_t factor = config->factors[number];
	const uint32_t tasks = self->running + (self->faulting ? config->kswapds : 0);
	uint64_t ns = config->access_ns * factor / SWS_SWEEPS_ONE;

	if (faulted) {
		const uint64_t extra =
			config->fault_ns[self->faulting - 1] * factor / SWS_SWEEPS_ONE;

		self->result->system_ns += extra;
		ns += extra;
	}
	self->threads[number].clock += tasks > config->cpus ? ns * tasks / config->cpus : ns;
}

/* One access of a thread. Returns false if no slot is left. */
static bool access_page(struct run *self, uint32_t number)
{
	struct sweep_thread *thread = &self->threads[number];
	const uint32_t index = thread->first + (uint32_t)(thread->accesses % thread->share);
	const bool faults = self->pages[index].state != RESIDENT;

	self->result->accesses++;
	set_faulting(self, thread, faults);
	if (faults && !fault(self, number % self->config->nodes, index))
		return false;
	self->pages[index].referenced = true;
	spend(self, number, faults);
	thread->accesses++;
	if (thread->accesses == (uint64_t)self->config->sweeps * thread->share)
		end(self, thread);
	return true;
}

static void set_up(struct run *self)
{
	const struct sws_sweeps_config *config = self->config;
	uint32_t first = 0;

	for (uint32_t i = 0; i < config->threads; i++) {
		self->threads[i].first = first;
		self->threads[i].share =
			config->pages / config->threads + (i < config->pages % config->threads);
		first += self->threads[i].share;
	}
	for (uint32_t i = 0; i < config->nodes; i++)
		self->nodes[i].free =
			config->memory / config->nodes + (i < config->memory % config->nodes);
	for (uint32_t i = config->pages; i < config->pages + SIDES * config->nodes; i++)
		self->pages[i].after = self->pages[i].before = i;
	self->running = config->threads;
}

int sws_sweeps_run(const struct sws_sweeps_config *config, struct sws_sweeps_result *result)
{
	const struct sws_allocator *allocator =
		config->allocator ? config->allocator : &sws_libc_allocator;
	struct run self = { .config = config, .result = result };
	bool more = true;

	*result = (struct sws_sweeps_result){ 0 };
	if (!is_valid(config))
		return SWS_ERROR_BAD_CONFIG;
	self.pages = sws_allocate_zeroed(allocator, config->pages + SIDES * config->nodes,
					 sizeof(*self.pages));
	if (!self.pages)
		return SWS_ERROR_NO_MEMORY;
	set_up(&self);
	while (self.running && more) {
		const uint32_t next = next_thread(&self);

		more = access_page(&self, next);
		if (!more || self.threads[next].clock > result->elapsed_ns)
			result->elapsed_ns = self.threads[next].clock;
	}
	result->out_of_swap = !more;
	sws_release(allocator, self.pages);
	return SWS_OK;
}
