/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/disk.c - one disk, and three queues that take turns while more than one has requests:
 * reads, the writes of fdatasync, and other writes. In the turn of the reads an empty queue waits
 * for the next read for up to 8 ms, because the client submits its next read after the last one.
 * Reads are served in order of arrival. Writes are sorted by position and served in one direction.
 * With the head at 40 and no request in service:
 *
 *      writes   10..17   44..171   9000..9003      44 is next, then 9000, then 10
 *      + 172    joins 44..171 if a request may have 129 pages, else it is queued after it
 *
 * A file that is written continuously would keep the head in its area. Therefore after WAVE
 * requests the oldest one is served if it is older than EXPIRE, and the head continues from there.
 */
#include "reclaim/disk.h"

#include "reclaim/pages.h"

#include <string.h>

enum { WAVE = 16 };
static const uint64_t SECOND_NS = 1000000000;
static const uint64_t EXPIRE_NS = 250000000;
/* slice_idle of CFQ. */
static const uint64_t PATIENCE_NS = 8000000;
/* slice_sync of CFQ: reads, and the writes of fdatasync, while other requests wait. */
static const uint64_t SYNC_TURN_NS = 100000000;
/* slice_async of CFQ: all other writes. */
static const uint64_t ASYNC_TURN_NS = 40000000;

/* Returns the requests of a queue, including the one in service. */
static uint32_t requests_in(const struct sws_reclaim *self, enum disk_queue queue)
{
	const struct disk *disk = &self->disk;

	return disk->queues[queue].n + (disk->busy && disk->serving.queue == queue);
}

bool sws_reclaim__is_full(const struct sws_reclaim *self, enum disk_queue queue)
{
	return requests_in(self, queue) >= self->config.nr_requests;
}

/* queue_congestion_on_threshold and queue_congestion_off_threshold: 113 and 103 of 128. */
static uint32_t congested_from(const struct sws_reclaim *self)
{
	const uint32_t n = self->config.nr_requests;

	return n - n / 8 + 1 < n ? n - n / 8 + 1 : n;
}

static uint32_t congested_until(const struct sws_reclaim *self)
{
	const uint32_t n = self->config.nr_requests;

	return n > 1 ? n - n / 8 - n / 16 - 1 : 1;
}

int sws_reclaim__wake(struct sws_reclaim *self, enum wait_for what)
{
	int error = SWS_OK;

	for (uint32_t i = 0; i < NR_ACTORS && !error; i++)
		if (self->actors[i].thread.asleep && self->actors[i].thread.sleeps_for == what)
			error = engine_wake(&self->actors[i].thread);
	return error;
}

int sws_reclaim__call(struct sws_reclaim *self, enum actor_kind who)
{
	struct engine_thread *thread = &self->actors[who].thread;

	if (!thread->asleep || thread->sleeps_for != WAIT_WAKE_UP)
		return SWS_OK;
	return engine_wake(thread);
}

static uint32_t all_requests(const struct disk *disk)
{
	uint32_t n = disk->busy;

	for (uint32_t i = 0; i < NR_QUEUES; i++)
		n += disk->queues[i].n;
	return n;
}

bool sws_reclaim__has_requests(const struct sws_reclaim *self)
{
	return all_requests(&self->disk) > 0;
}

/* Adds the queue's length up to now to queue_ns; called before each change of the length. */
static void count_queue(struct sws_reclaim *self)
{
	struct disk *disk = &self->disk;

	self->counts.queue_ns += (uint64_t)all_requests(disk) * (time_now(self) - disk->counted_ns);
	disk->counted_ns = time_now(self);
}

/* Returns the first write at or after a position. */
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

int sws_reclaim__submit(struct sws_reclaim *self, enum disk_queue kind, uint64_t at, uint32_t pages,
			bool *joined)
{
	const struct request request = {
		.at = at,
		.since = time_now(self),
		.pages = pages,
		.queue = kind,
	};
	struct queue *queue = &self->disk.queues[kind];
	const uint32_t behind = kind == QUEUE_READS ? queue->n : write_behind(queue, at);

	count_queue(self);
	*joined = kind != QUEUE_READS && joins(queue, behind, &request, self->config.request_pages);
	if (!*joined && queue->n == self->disk.room)
		return SWS_ERROR_BROKEN;
	if (!*joined)
		put(queue, behind, &request);
	if (requests_in(self, QUEUE_WRITES) >= congested_from(self))
		self->disk.congested = true;
	return sws_reclaim__call(self, ACTOR_DISK);
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

/*
 * Returns the time of a request: the seek, 0 if the head is at its position and else growing with
 * the square root of the distance, and the transfer.
 */
static uint64_t service_ns(const struct sws_reclaim *self, const struct request *request)
{
	const struct sws_reclaim_config *config = &self->config;
	const uint64_t span = (uint64_t)config->disk_pages + config->swap_pages;
	const uint64_t way = request->at > self->disk.head ? request->at - self->disk.head
							   : self->disk.head - request->at;
	const uint64_t pages_ns = request->pages * SECOND_NS / config->disk_rate;

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

static uint32_t next_write(const struct sws_reclaim *self, const struct queue *queue,
			   uint32_t *wave)
{
	uint32_t next = 0;

	if (++*wave >= WAVE) {
		*wave = 0;
		next = oldest_of(queue);
		if (time_now(self) - queue->requests[next].since >= EXPIRE_NS)
			return next;
	}
	next = self->disk.head ? write_behind(queue, self->disk.head - 1) : 0;
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

/* Returns the page at a position if it is in memory. */
static uint32_t page_at(const struct sws_reclaim *self, uint64_t at)
{
	const uint32_t span = self->config.disk_pages;

	return (at < span ? self->file.frames[at] : self->swap.frames[at - span]) - 1;
}

static void end_pages(struct sws_reclaim *self, const struct request *served)
{
	const bool reads = served->queue == QUEUE_READS;
	uint32_t of_file = 0;

	for (uint64_t at = served->at; at < served->at + served->pages; at++) {
		const uint32_t frame = page_at(self, at);

		of_file += at < self->config.disk_pages;
		if (frame != NO_FRAME && reads && page_is(&self->pages[frame], PAGE_READING))
			sws_reclaim__end_reading(self, frame);
		else if (frame != NO_FRAME && !reads &&
			 page_is(&self->pages[frame], PAGE_WRITEBACK))
			sws_reclaim__end_writeback(self, frame);
	}
	self->work += served->pages;
	if (!reads && of_file)
		sws_reclaim__measure(self, of_file);
}

static void count_served(struct sws_reclaim *self, const struct request *served)
{
	struct sws_reclaim_counts *counts = &self->counts;
	const uint64_t ns = time_now(self) - served->since;
	const bool reads = served->queue == QUEUE_READS;
	uint64_t *longest = reads ? &counts->longest_read_ns : &counts->longest_write_ns;

	*(reads ? &counts->reads : &counts->writes) += 1;
	*(reads ? &counts->read_ns : &counts->write_ns) += ns;
	*(reads ? &counts->disk_read : &counts->disk_written) += served->pages;
	if (ns > *longest)
		*longest = ns;
}

/*
 * Completes a request: wakes the tasks that wait for a page or for the file, then those that wait
 * for room or for the end of a congestion.
 */
static int complete(struct sws_reclaim *self)
{
	struct disk *disk = &self->disk;
	const enum disk_queue queue = disk->serving.queue;
	int error = SWS_OK;

	count_queue(self);
	count_served(self, &disk->serving);
	disk->busy = false;
	disk->head = disk->serving.at + disk->serving.pages;
	end_pages(self, &disk->serving);
	if (queue == QUEUE_READS)
		return sws_reclaim__wake(self, WAIT_READ);
	if (!self->file.writeback)
		error = sws_reclaim__wake(self, WAIT_SYNC);
	if (!error && !sws_reclaim__is_full(self, queue))
		error = sws_reclaim__wake(self, queue == QUEUE_WRITES ? WAIT_ROOM : WAIT_SYNC_ROOM);
	if (error || queue != QUEUE_WRITES || requests_in(self, queue) >= congested_until(self))
		return error;
	disk->congested = false;
	return sws_reclaim__wake(self, WAIT_CONGESTION);
}

enum step { NEXT, SERVED };

struct serve {
	/* The queue whose turn it is, and the end of its turn while other queues have requests. */
	enum disk_queue turn;
	uint64_t turn_until;
	/* End of the wait for the next read, in the turn of the reads. */
	uint64_t patient_until;
	/* Writes since the age of the oldest one was checked. */
	uint32_t wave;
};

/* Returns true if the queue goes on: it has requests and time, or no other queue has requests. */
static bool keeps_turn(const struct sws_reclaim *self, const struct serve *my)
{
	const struct disk *disk = &self->disk;
	const uint32_t n = disk->queues[my->turn].n;
	const bool has_time = time_now(self) < my->turn_until;

	if (n)
		return has_time || n == all_requests(disk);
	return has_time && my->turn == QUEUE_READS && time_now(self) < my->patient_until;
}

static void pass_turn(const struct sws_reclaim *self, struct serve *my)
{
	do
		my->turn = (my->turn + 1) % NR_QUEUES;
	while (!self->disk.queues[my->turn].n);
	my->turn_until = time_now(self) + (my->turn == QUEUE_WRITES ? ASYNC_TURN_NS : SYNC_TURN_NS);
}

static int wait_for_read(struct actor *actor, const struct serve *my)
{
	const uint64_t end =
		my->patient_until < my->turn_until ? my->patient_until : my->turn_until;

	engine_go(&actor->thread, NEXT);
	return engine_doze(&actor->thread, end - time_now(actor->reclaim), WAIT_WAKE_UP);
}

static int next(struct actor *actor, struct serve *my)
{
	struct sws_reclaim *self = actor->reclaim;
	struct disk *disk = &self->disk;
	struct queue *queue = NULL;

	if (!all_requests(disk)) {
		engine_go(&actor->thread, NEXT);
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	}
	if (!keeps_turn(self, my))
		pass_turn(self, my);
	queue = &disk->queues[my->turn];
	if (!queue->n)
		return wait_for_read(actor, my);
	count_queue(self);
	disk->serving =
		take(queue, my->turn == QUEUE_READS ? 0 : next_write(self, queue, &my->wave));
	disk->busy = true;
	return engine_run(&actor->thread, service_ns(self, &disk->serving));
}

static int serve(struct actor *actor, void *frame, uint32_t step)
{
	struct serve *my = frame;

	switch ((enum step)step) {
	case NEXT:
		return next(actor, my);
	case SERVED:
		if (my->turn == QUEUE_READS)
			my->patient_until = time_now(actor->reclaim) + PATIENCE_NS;
		engine_go(&actor->thread, NEXT);
		return complete(actor->reclaim);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__disk(struct actor *actor)
{
	const struct serve frame = { 0 };

	return engine_call(&actor->thread, serve, &frame, sizeof(frame));
}

/* Averages samples of a fifth of a second over about three seconds. */
void sws_reclaim__measure(struct sws_reclaim *self, uint32_t pages)
{
	struct bandwidth *bandwidth = &self->bandwidth;
	const uint64_t elapsed = time_now(self) - bandwidth->since;
	const uint64_t over = 3 * SECOND_NS;

	bandwidth->pages += pages;
	if (elapsed < SECOND_NS / 5)
		return;
	/* After more than a second the file was idle; such a sample does not measure the disk. */
	if (elapsed <= SECOND_NS)
		bandwidth->rate =
			(bandwidth->pages * SECOND_NS + bandwidth->rate * (over - elapsed)) / over;
	bandwidth->pages = 0;
	bandwidth->since = time_now(self);
}
