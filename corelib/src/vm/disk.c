/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/disk.c - one disk. Reads and writes take turns where both wait; in the reads' turn the next
 * read is waited for, 8 ms at most, for the client asks when it has the one before. Reads are served in their order; writes lie sorted by place, and the head goes over
 * them in one direction. Head at 40, in service nothing:
 *
 *      writes   10..17   44..171   9000..9003      44 is next, then 9000, then 10
 *      + 172    joins 44..171, if a request may have 129 pages, else lies behind it
 *
 * A file that is written on and on would keep the head for ever: after WAVE requests the
 * oldest one is served if it is older than EXPIRE, and the head goes on from there.
 */
#include "vm/disk.h"

#include "vm/bandwidth.h"
#include "vm/pages.h"

#include <string.h>

enum { WAVE = 16, SECOND = 1000000000 };
static const uint64_t EXPIRE_NS = 250000000;
/* slice_idle of CFQ. */
static const uint64_t PATIENCE_NS = 8000000;

uint32_t sws_vm__writes(const struct sws_vm *vm)
{
	return vm->disk.n_writes + (vm->disk.busy && !vm->disk.serving.reads);
}

bool sws_vm__is_full(const struct sws_vm *vm)
{
	return sws_vm__writes(vm) >= vm->config.nr_requests;
}

/* queue_congestion_on_threshold, queue_congestion_off_threshold: 113 and 103 of 128. */
static uint32_t congested_from(const struct sws_vm *vm)
{
	const uint32_t n = vm->config.nr_requests;

	return n - n / 8 + 1 < n ? n - n / 8 + 1 : n;
}

static uint32_t congested_until(const struct sws_vm *vm)
{
	const uint32_t n = vm->config.nr_requests;

	return n - n / 8 - n / 16 - 1;
}

int sws_vm__wake(struct sws_vm *vm, enum vm_sleep what)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < VM_ACTORS && !error; i++)
		if (vm->actors[i].thread.asleep && vm->actors[i].thread.sleeps_for == what)
			error = engine_wake(&vm->actors[i].thread);
	return error;
}

int sws_vm__call(struct sws_vm *vm, enum vm_actor who)
{
	struct engine_thread *thread = &vm->actors[who].thread;

	if (!thread->asleep || thread->sleeps_for != SLEEP_TO_BE_WOKEN)
		return SWS_OK;
	return engine_wake(thread);
}

/* The queue is about to change: its length until now is in the account. */
static void count_queue(struct sws_vm *vm)
{
	struct disk *disk = &vm->disk;

	vm->counts.queue_ns += (uint64_t)(disk->n_writes + disk->n_reads + disk->busy) *
			       (vm_now(vm) - disk->counted_ns);
	disk->counted_ns = vm_now(vm);
}

/* The first write behind a place. */
static uint32_t write_behind(const struct disk *disk, uint64_t at)
{
	uint32_t low = 0;
	uint32_t high = disk->n_writes;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (disk->writes[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool joins(struct sws_vm *vm, uint32_t behind, uint64_t at, uint32_t pages)
{
	struct disk *disk = &vm->disk;
	struct request *before = behind ? &disk->writes[behind - 1] : NULL;
	struct request *after = behind < disk->n_writes ? &disk->writes[behind] : NULL;

	if (before && before->at + before->pages == at &&
	    before->pages + pages <= vm->config.request_pages) {
		before->pages += pages;
		return true;
	}
	if (after && at + pages == after->at && after->pages + pages <= vm->config.request_pages) {
		after->at = at;
		after->pages += pages;
		return true;
	}
	return false;
}

static int submit_write(struct sws_vm *vm, const struct request *request, bool *joined)
{
	struct disk *disk = &vm->disk;
	const uint32_t behind = write_behind(disk, request->at);

	*joined = joins(vm, behind, request->at, request->pages);
	if (*joined)
		return SWS_OK;
	if (disk->n_writes == disk->room)
		return SWS_ERROR_BROKEN;
	memmove(&disk->writes[behind + 1], &disk->writes[behind],
		(disk->n_writes - behind) * sizeof(*request));
	disk->writes[behind] = *request;
	disk->n_writes++;
	if (sws_vm__writes(vm) >= congested_from(vm))
		disk->congested = true;
	return SWS_OK;
}

int sws_vm__submit(struct sws_vm *vm, uint64_t at, uint32_t pages, bool reads, bool *joined)
{
	const struct request request = {
		.at = at,
		.since = vm_now(vm),
		.pages = pages,
		.reads = reads,
	};
	struct disk *disk = &vm->disk;
	int error = SWS_OK;

	*joined = false;
	count_queue(vm);
	if (!reads)
		error = submit_write(vm, &request, joined);
	else if (disk->n_reads == disk->room)
		error = SWS_ERROR_BROKEN;
	else
		disk->reads[disk->n_reads++] = request;
	return error ? error : sws_vm__call(vm, VM_DISK);
}

static uint64_t root(uint64_t square)
{
	uint64_t low = 0;
	uint64_t high = UINT64_C(1) << 16;

	while (low + 1 < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (middle * middle <= square)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* From where the head is: nothing if it is there already; then by the root of the way. */
static uint64_t service_ns(const struct sws_vm *vm, const struct request *request)
{
	const struct sws_vm_config *config = &vm->config;
	const uint64_t span = (uint64_t)config->disk_pages + config->swap_pages;
	const uint64_t way = request->at > vm->disk.head ? request->at - vm->disk.head
							 : vm->disk.head - request->at;
	const uint64_t pages_ns = request->pages * (uint64_t)SECOND / config->disk_rate;

	if (!way)
		return pages_ns;
	return pages_ns + config->seek_near_ns +
	       (config->seek_far_ns - config->seek_near_ns) * root(way) / (root(span) + 1);
}

static uint32_t oldest_write(const struct disk *disk)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < disk->n_writes; i++)
		if (disk->writes[i].since < disk->writes[oldest].since)
			oldest = i;
	return oldest;
}

static uint32_t next_write(const struct sws_vm *vm, uint32_t *wave)
{
	const struct disk *disk = &vm->disk;
	uint32_t next = 0;

	if (++*wave >= WAVE) {
		*wave = 0;
		next = oldest_write(disk);
		if (vm_now(vm) - disk->writes[next].since >= EXPIRE_NS)
			return next;
	}
	next = disk->head ? write_behind(disk, disk->head - 1) : 0;
	return next < disk->n_writes ? next : 0;
}

static void take(struct request *requests, uint32_t *n, uint32_t i, struct request *out)
{
	*out = requests[i];
	--*n;
	memmove(&requests[i], &requests[i + 1], (*n - i) * sizeof(*requests));
}

/* The page that lies at a place, if it is in memory still. */
static uint32_t page_at(const struct sws_vm *vm, uint64_t at)
{
	const uint32_t span = vm->config.disk_pages;

	return (at < span ? vm->file.frames[at] : vm->swap.frames[at - span]) - 1;
}

static void end_pages(struct sws_vm *vm, const struct request *served)
{
	uint32_t of_file = 0;

	for (uint64_t at = served->at; at < served->at + served->pages; at++) {
		const uint32_t frame = page_at(vm, at);

		of_file += at < vm->config.disk_pages;
		if (frame != VM_NONE && served->reads && vm_is(&vm->pages[frame], VM_READING))
			sws_vm__end_reading(vm, frame);
		else if (frame != VM_NONE && !served->reads &&
			 vm_is(&vm->pages[frame], VM_WRITEBACK))
			sws_vm__end_writeback(vm, frame);
	}
	vm->work += served->pages;
	if (!served->reads && of_file)
		sws_vm__measure(vm, of_file);
}

static void count_served(struct sws_vm *vm, const struct request *served)
{
	struct sws_vm_counts *counts = &vm->counts;
	const uint64_t ns = vm_now(vm) - served->since;
	uint64_t *longest = served->reads ? &counts->longest_read_ns : &counts->longest_write_ns;

	*(served->reads ? &counts->reads : &counts->writes) += 1;
	*(served->reads ? &counts->read_ns : &counts->write_ns) += ns;
	*(served->reads ? &counts->disk_read : &counts->disk_written) += served->pages;
	if (ns > *longest)
		*longest = ns;
}

/* A completion: readers and those who wait for the file; then who waits for room or for less. */
static int complete(struct sws_vm *vm)
{
	struct disk *disk = &vm->disk;
	const bool reads = disk->serving.reads;
	int error = SWS_OK;

	count_queue(vm);
	count_served(vm, &disk->serving);
	disk->busy = false;
	disk->head = disk->serving.at + disk->serving.pages;
	end_pages(vm, &disk->serving);
	if (reads)
		return sws_vm__wake(vm, SLEEP_READ);
	if (!vm->file.writeback)
		error = sws_vm__wake(vm, SLEEP_SYNC);
	if (!error && !sws_vm__is_full(vm))
		error = sws_vm__wake(vm, SLEEP_ROOM);
	if (error || sws_vm__writes(vm) >= congested_until(vm))
		return error;
	disk->congested = false;
	return sws_vm__wake(vm, SLEEP_CONGESTION);
}

enum step { NEXT, SERVED };

struct serve {
	bool writes_turn;
	uint64_t turn_until;
	/* So long a read is waited for in the reads' turn. */
	uint64_t patient_until;
	/* Writes since the oldest was looked for. */
	uint32_t wave;
};

/* Someone waits, if only for the other turn. */
static bool keeps_turn(const struct sws_vm *vm, const struct serve *my)
{
	const struct disk *disk = &vm->disk;
	const bool has_time = vm_now(vm) < my->turn_until;

	if (my->writes_turn)
		return disk->n_writes && (has_time || !disk->n_reads);
	if (disk->n_reads)
		return has_time || !disk->n_writes;
	return has_time && vm_now(vm) < my->patient_until;
}

static void pass_turn(const struct sws_vm *vm, struct serve *my)
{
	my->writes_turn = !my->writes_turn;
	my->turn_until = vm_now(vm) +
			 (my->writes_turn ? vm->config.writes_turn_ns : vm->config.reads_turn_ns);
}

static int wait_for_read(struct actor *actor, const struct serve *my)
{
	const uint64_t end =
		my->patient_until < my->turn_until ? my->patient_until : my->turn_until;

	engine_go(&actor->thread, NEXT);
	return engine_doze(&actor->thread, end - vm_now(actor->vm), SLEEP_TO_BE_WOKEN);
}

static int next(struct actor *actor, struct serve *my)
{
	struct sws_vm *vm = actor->vm;
	struct disk *disk = &vm->disk;

	if (!disk->n_reads && !disk->n_writes) {
		engine_go(&actor->thread, NEXT);
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	}
	if (!keeps_turn(vm, my))
		pass_turn(vm, my);
	if (!my->writes_turn && !disk->n_reads)
		return wait_for_read(actor, my);
	count_queue(vm);
	if (my->writes_turn)
		take(disk->writes, &disk->n_writes, next_write(vm, &my->wave), &disk->serving);
	else
		take(disk->reads, &disk->n_reads, 0, &disk->serving);
	disk->busy = true;
	return engine_run(&actor->thread, service_ns(vm, &disk->serving));
}

static int serve(struct actor *actor, void *frame, uint32_t step)
{
	struct serve *my = frame;

	switch ((enum step)step) {
	case NEXT:
		return next(actor, my);
	case SERVED:
		if (actor->vm->disk.serving.reads)
			my->patient_until = vm_now(actor->vm) + PATIENCE_NS;
		engine_go(&actor->thread, NEXT);
		return complete(actor->vm);
	}
	return SWS_ERROR_BROKEN;
}

int sws_vm__disk(struct actor *actor)
{
	const struct serve frame = { 0 };

	return engine_call(&actor->thread, serve, &frame, sizeof(frame));
}
