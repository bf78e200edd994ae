/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/disk.c - one disk, and three queues that take turns where more than one has requests: reads,
 * what fdatasync writes, and what others write. In the reads' turn the next read is waited for,
 * 8 ms at most, for the client asks when it has the one before. Reads are served in their order;
 * writes lie sorted by place, and the head goes over them in one direction. Head at 40, in
 * service nothing:
 *
 *      writes   10..17   44..171   9000..9003      44 is next, then 9000, then 10
 *      + 172    joins 44..171, if a request may have 129 pages, else lies behind it
 *
 * A file that is written on and on would keep the head for ever: after WAVE requests the
 * oldest one is served if it is older than EXPIRE, and the head goes on from there.
 */
#include "reclaim/disk.h"

#include "reclaim/bandwidth.h"
#include "reclaim/pages.h"

#include <string.h>

enum { WAVE = 16, SECOND = 1000000000 };
static const uint64_t EXPIRE_NS = 250000000;
/* slice_idle of CFQ. */
static const uint64_t PATIENCE_NS = 8000000;

/* The one in service with them. */
static uint32_t requests_in(const struct sws_reclaim *vm, enum vm_queue queue)
{
	const struct disk *disk = &vm->disk;

	return disk->queues[queue].n + (disk->busy && disk->serving.queue == queue);
}

bool sws_reclaim__is_full(const struct sws_reclaim *vm, enum vm_queue queue)
{
	return requests_in(vm, queue) >= vm->config.nr_requests;
}

/* queue_congestion_on_threshold, queue_congestion_off_threshold: 113 and 103 of 128. */
static uint32_t congested_from(const struct sws_reclaim *vm)
{
	const uint32_t n = vm->config.nr_requests;

	return n - n / 8 + 1 < n ? n - n / 8 + 1 : n;
}

static uint32_t congested_until(const struct sws_reclaim *vm)
{
	const uint32_t n = vm->config.nr_requests;

	return n > 1 ? n - n / 8 - n / 16 - 1 : 1;
}

int sws_reclaim__wake(struct sws_reclaim *vm, enum vm_sleep what)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < VM_ACTORS && !error; i++)
		if (vm->actors[i].thread.asleep && vm->actors[i].thread.sleeps_for == what)
			error = engine_wake(&vm->actors[i].thread);
	return error;
}

int sws_reclaim__call(struct sws_reclaim *vm, enum vm_actor who)
{
	struct engine_thread *thread = &vm->actors[who].thread;

	if (!thread->asleep || thread->sleeps_for != SLEEP_TO_BE_WOKEN)
		return SWS_OK;
	return engine_wake(thread);
}

static uint32_t all_requests(const struct disk *disk)
{
	uint32_t n = disk->busy;

	for (uint32_t i = 0; i < VM_QUEUES; i++)
		n += disk->queues[i].n;
	return n;
}

/* The queue is about to change: its length until now is in the account. */
static void count_queue(struct sws_reclaim *vm)
{
	struct disk *disk = &vm->disk;

	vm->counts.queue_ns += (uint64_t)all_requests(disk) * (vm_now(vm) - disk->counted_ns);
	disk->counted_ns = vm_now(vm);
}

/* The first write behind a place. */
static uint32_t write_behind(const struct queue *queue, uint64_t at)
{
	uint32_t low = 0;
	uint32_t high = queue->n;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (queue->requests[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool joins(struct queue *queue, uint32_t behind, const struct request *request,
		  uint32_t most)
{
	struct request *before = behind ? &queue->requests[behind - 1] : NULL;
	struct request *after = behind < queue->n ? &queue->requests[behind] : NULL;

	if (before && before->at + before->pages == request->at &&
	    before->pages + request->pages <= most) {
		before->pages += request->pages;
		return true;
	}
	if (after && request->at + request->pages == after->at &&
	    after->pages + request->pages <= most) {
		after->at = request->at;
		after->pages += request->pages;
		return true;
	}
	return false;
}

static void put(struct queue *queue, uint32_t i, const struct request *request)
{
	memmove(&queue->requests[i + 1], &queue->requests[i],
		(queue->n - i) * sizeof(*queue->requests));
	queue->requests[i] = *request;
	queue->n++;
}

int sws_reclaim__submit(struct sws_reclaim *vm, enum vm_queue kind, uint64_t at, uint32_t pages,
			bool *joined)
{
	const struct request request = {
		.at = at,
		.since = vm_now(vm),
		.pages = pages,
		.queue = kind,
	};
	struct queue *queue = &vm->disk.queues[kind];
	const uint32_t behind = kind == VM_READS ? queue->n : write_behind(queue, at);

	count_queue(vm);
	*joined = kind != VM_READS && joins(queue, behind, &request, vm->config.request_pages);
	if (!*joined && queue->n == vm->disk.room)
		return SWS_ERROR_BROKEN;
	if (!*joined)
		put(queue, behind, &request);
	if (requests_in(vm, VM_WRITES) >= congested_from(vm))
		vm->disk.congested = true;
	return sws_reclaim__call(vm, VM_DISK);
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
static uint64_t service_ns(const struct sws_reclaim *vm, const struct request *request)
{
	const struct sws_reclaim_config *config = &vm->config;
	const uint64_t span = (uint64_t)config->disk_pages + config->swap_pages;
	const uint64_t way = request->at > vm->disk.head ? request->at - vm->disk.head
							 : vm->disk.head - request->at;
	const uint64_t pages_ns = request->pages * (uint64_t)SECOND / config->disk_rate;

	if (!way)
		return pages_ns;
	return pages_ns + config->seek_near_ns +
	       (config->seek_far_ns - config->seek_near_ns) * root(way) / (root(span) + 1);
}

static uint32_t oldest_of(const struct queue *queue)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < queue->n; i++)
		if (queue->requests[i].since < queue->requests[oldest].since)
			oldest = i;
	return oldest;
}

static uint32_t next_write(const struct sws_reclaim *vm, const struct queue *queue, uint32_t *wave)
{
	uint32_t next = 0;

	if (++*wave >= WAVE) {
		*wave = 0;
		next = oldest_of(queue);
		if (vm_now(vm) - queue->requests[next].since >= EXPIRE_NS)
			return next;
	}
	next = vm->disk.head ? write_behind(queue, vm->disk.head - 1) : 0;
	return next < queue->n ? next : 0;
}

static struct request take(struct queue *queue, uint32_t i)
{
	const struct request taken = queue->requests[i];

	queue->n--;
	memmove(&queue->requests[i], &queue->requests[i + 1],
		(queue->n - i) * sizeof(*queue->requests));
	return taken;
}

/* The page that lies at a place, if it is in memory still. */
static uint32_t page_at(const struct sws_reclaim *vm, uint64_t at)
{
	const uint32_t span = vm->config.disk_pages;

	return (at < span ? vm->file.frames[at] : vm->swap.frames[at - span]) - 1;
}

static void end_pages(struct sws_reclaim *vm, const struct request *served)
{
	const bool reads = served->queue == VM_READS;
	uint32_t of_file = 0;

	for (uint64_t at = served->at; at < served->at + served->pages; at++) {
		const uint32_t frame = page_at(vm, at);

		of_file += at < vm->config.disk_pages;
		if (frame != VM_NONE && reads && vm_is(&vm->pages[frame], VM_READING))
			sws_reclaim__end_reading(vm, frame);
		else if (frame != VM_NONE && !reads && vm_is(&vm->pages[frame], VM_WRITEBACK))
			sws_reclaim__end_writeback(vm, frame);
	}
	vm->work += served->pages;
	if (!reads && of_file)
		sws_reclaim__measure(vm, of_file);
}

static void count_served(struct sws_reclaim *vm, const struct request *served)
{
	struct sws_reclaim_counts *counts = &vm->counts;
	const uint64_t ns = vm_now(vm) - served->since;
	const bool reads = served->queue == VM_READS;
	uint64_t *longest = reads ? &counts->longest_read_ns : &counts->longest_write_ns;

	*(reads ? &counts->reads : &counts->writes) += 1;
	*(reads ? &counts->read_ns : &counts->write_ns) += ns;
	*(reads ? &counts->disk_read : &counts->disk_written) += served->pages;
	if (ns > *longest)
		*longest = ns;
}

/* A completion: readers and those who wait for the file; then who waits for room or for less. */
static int complete(struct sws_reclaim *vm)
{
	struct disk *disk = &vm->disk;
	const enum vm_queue queue = disk->serving.queue;
	int error = SWS_OK;

	count_queue(vm);
	count_served(vm, &disk->serving);
	disk->busy = false;
	disk->head = disk->serving.at + disk->serving.pages;
	end_pages(vm, &disk->serving);
	if (queue == VM_READS)
		return sws_reclaim__wake(vm, SLEEP_READ);
	if (!vm->file.writeback)
		error = sws_reclaim__wake(vm, SLEEP_SYNC);
	if (!error && !sws_reclaim__is_full(vm, queue))
		error = sws_reclaim__wake(vm, queue == VM_WRITES ? SLEEP_ROOM : SLEEP_SYNC_ROOM);
	if (error || queue != VM_WRITES || requests_in(vm, queue) >= congested_until(vm))
		return error;
	disk->congested = false;
	return sws_reclaim__wake(vm, SLEEP_CONGESTION);
}

enum step { NEXT, SERVED };

struct serve {
	/* Whose turn it is, and until when if others wait. */
	enum vm_queue turn;
	uint64_t turn_until;
	/* So long a read is waited for in the reads' turn. */
	uint64_t patient_until;
	/* Writes since the oldest was looked for. */
	uint32_t wave;
};

/* Someone waits, if only for another turn. */
static bool keeps_turn(const struct sws_reclaim *vm, const struct serve *my)
{
	const struct disk *disk = &vm->disk;
	const uint32_t n = disk->queues[my->turn].n;
	const bool has_time = vm_now(vm) < my->turn_until;

	if (n)
		return has_time || n == all_requests(disk);
	return has_time && my->turn == VM_READS && vm_now(vm) < my->patient_until;
}

static void pass_turn(const struct sws_reclaim *vm, struct serve *my)
{
	do
		my->turn = (my->turn + 1) % VM_QUEUES;
	while (!vm->disk.queues[my->turn].n);
	my->turn_until = vm_now(vm) + (my->turn == VM_WRITES ? vm->config.async_turn_ns
							     : vm->config.sync_turn_ns);
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
	struct sws_reclaim *vm = actor->vm;
	struct disk *disk = &vm->disk;
	struct queue *queue = NULL;

	if (!all_requests(disk)) {
		engine_go(&actor->thread, NEXT);
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	}
	if (!keeps_turn(vm, my))
		pass_turn(vm, my);
	queue = &disk->queues[my->turn];
	if (!queue->n)
		return wait_for_read(actor, my);
	count_queue(vm);
	disk->serving = take(queue, my->turn == VM_READS ? 0 : next_write(vm, queue, &my->wave));
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
		if (my->turn == VM_READS)
			my->patient_until = vm_now(actor->vm) + PATIENCE_NS;
		engine_go(&actor->thread, NEXT);
		return complete(actor->vm);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__disk(struct actor *actor)
{
	const struct serve frame = { 0 };

	return engine_call(&actor->thread, serve, &frame, sizeof(frame));
}
