/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/call.c - one call of get_swap_pages, part by part. Where the kernel jumps between labels,
 * call->state holds the next part.
 *
 *      6.1, 2 wanted, the base 10, no cluster free:   slot  10 11 12 13 14
 *                                                     map   #  #  .  #  .
 *
 *      START   locked     no cluster to take from          SCAN
 *      SCAN    unlocked   tests 11 and 12                  CHECK
 *      CHECK   locked     takes 12, tests 12 to 14,
 *                         takes 14, stores 15              DONE
 *
 * If another call takes 12 in between, CHECK finds it in use and returns to SCAN, from 13 on.
 */
#include "slots/clusters.h"
#include "slots/scan.h"

static void end(struct sws_slots *self, struct sws_slots_call *call, enum sws_call_state state)
{
	call->state = state;
	self->credit += call->wanted - call->given;
}

static int64_t ask_policy(struct sws_slots *self, uint32_t cpu, const struct sws_slots_call *call,
			  uint32_t owner, struct sws_slots_work *work)
{
	const int64_t draw = (int64_t)(sws_generator_next(&self->generators[owner]) >> 1);
	/* Only the online CPUs take slots, so the bases of the others do not matter. */
	const int64_t n_bases =
		self->ops->base_of == SWS_BASE_OF_CPU ? self->online_cpus : self->n_bases;
	int64_t looked_at = 0;
	int64_t answer = self->ops->store(
		cpu, call->mm, call->base_before, call->next, self->lowest, self->highest,
		INT64_C(1) << self->trunk_shift, draw, self->bases, n_bases, &looked_at);

	work->looked_at += (uint64_t)looked_at;
	if (self->ops == &self->reader && answer != call->next && answer != call->base_before &&
	    (answer < self->lowest || answer > self->highest)) {
		work->nonsense++;
		answer = call->next;
	}
	return answer;
}

/* Models set_cluster_next; up to 5.7 the store in its place. */
static void store_base(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
		       struct sws_slots_work *work)
{
	const uint32_t owner = sws_slots_base_owner(self, cpu, call->mm);

	call->base_before = (uint32_t)self->bases[owner];
	call->next = call->offset + 1;
	call->drew = call->base_before >> self->trunk_shift != call->next >> self->trunk_shift;
	self->bases[owner] = self->clusters ? ask_policy(self, cpu, call, owner, work) : call->next;
	call->base_after = (uint32_t)self->bases[owner];
	work->stores++;
}

/*
 * Models scan_swap_map_try_ssd_cluster: sets the offset to the next slot of this CPU's cluster.
 *
 * The head of the free list is copied to the CPU, not removed: it leaves the list when its first
 * slot is taken (take_slot). With the free list 64 -> 128 -> 192, clusters of 256 slots, a CPU
 * without a cluster, and 10 slots taken:
 *
 *                      the CPU's cluster, next      head
 *      before          none                           64
 *      here            64, 16384                      64       copied: in both places
 *      take_slot       64, 16385                     128
 *      after ten       64, 16394                     128
 *
 * The lock is held from the copy to the take, so no other CPU copies the same cluster. The search
 * continues from next and never goes back. The CPU drops a cluster without a free slot after next;
 * slots that are freed in it later are found by scans only, until the cluster becomes empty.
 */
static bool try_cluster(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			struct sws_slots_work *work)
{
	struct slots_cpu_cluster *mine = &self->cpu_clusters[cpu];

	for (;;) {
		uint32_t end_of_cluster = 0;
		uint32_t found = 0;

		if (mine->index == SLOTS_NO_CLUSTER) {
			if (self->free_head == SLOTS_NO_CLUSTER)
				return false;
			mine->index = self->free_head;
			mine->next = mine->index * self->cluster_size;
		}
		end_of_cluster = (mine->index + 1) * self->cluster_size;
		if (end_of_cluster > self->max)
			end_of_cluster = self->max;
		found = mine->next;
		if (found < end_of_cluster) {
			if (self->rules->cluster_locks)
				work->cluster_lock++;
			work->searches++;
			if (self->map[found])
				found = slots_find_free(self->map, found, end_of_cluster);
			work->tested_cluster += found - mine->next + (found < end_of_cluster);
		}
		if (found < end_of_cluster) {
			mine->next = found + 1;
			call->offset = found;
			call->scan_base = found;
			return true;
		}
		mine->index = SLOTS_NO_CLUSTER;
	}
}

/*
 * Models scan_swap_map_ssd_cluster_conflict. A free cluster that is not the head of the list must
 * not be started: the list is singly linked and can be shortened at its head only, so take_slot
 * would remove the head instead.
 *
 * Let the ten slots above be freed at once. Cluster 64 becomes empty and is appended to the list,
 * but the CPU still has it, with next 16394, which is free:
 *
 *      head 128 -> 192 -> ... -> 64 tail       the CPU: 64, 16394
 *
 *      16394 is in 64: free, and not the head     the CPU drops 64
 *      try_cluster                                copies 128, offset 32768
 *      32768 is in 128: free, but the head        no conflict: taken
 *
 * A scan may also reach such a cluster: while the lock is dropped, a cluster that the scan passes
 * becomes empty after another one. A call that already has slots ends there instead.
 */
static bool conflicts(struct sws_slots *self, uint32_t cpu, uint32_t offset)
{
	const uint32_t index = offset / self->cluster_size;

	if (self->free_head == SLOTS_NO_CLUSTER || index == self->free_head ||
	    index >= self->n_clusters || !self->clusters[index].free)
		return false;
	self->cpu_clusters[cpu].index = SLOTS_NO_CLUSTER;
	return true;
}

/*
 * An HDD searches for a run of free slots when the last run is used up. The counter is unsigned, as
 * cluster_nr is, and wraps at 0: 0 -> 4294967295, until the search sets it. Another CPU that
 * arrives while the lock is dropped takes that value for a long run, and takes the base without a
 * search. With 2047 free slots and the base 1:
 *
 *      CPU 0   START      a search is needed        cluster_nr  4294967295
 *      CPU 0   SEARCH     finds 1 to 256
 *      CPU 1   a call     takes 1, stores 2         cluster_nr  4294967294
 *      CPU 0   SEARCHED   the run, from 1           cluster_nr         255
 *              CHECK      1 is in use               SCAN
 *      CPU 0   SCAN       finds 2                   takes 2, stores 3
 */
static enum sws_call_state next_of_disk(struct sws_slots *self)
{
	if (self->cluster_nr-- != 0)
		return SWS_CALL_CHECK;
	if (slots_pages(self) - self->in_use >= self->cluster_size)
		return SWS_CALL_SEARCH;
	self->cluster_nr = self->cluster_size - 1;
	return SWS_CALL_CHECK;
}

static void start_locked(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			 struct sws_slots_work *work)
{
	call->scan_base = (uint32_t)self->bases[sws_slots_base_owner(self, cpu, call->mm)];
	call->offset = call->scan_base;
	if (!self->clusters)
		call->state = next_of_disk(self);
	else if (try_cluster(self, cpu, call, work) || self->rules->checks_the_base)
		call->state = SWS_CALL_CHECK;
	else
		call->state = SWS_CALL_SCAN;
}

static void take_run(struct sws_slots *self, struct sws_slots_call *call)
{
	if (call->search_end) {
		call->offset = call->search_end - (self->cluster_size - 1);
		self->bases[0] = call->offset;
	}
	self->cluster_nr = self->cluster_size - 1;
	call->state = SWS_CALL_CHECK;
}

/*
 * Replaces a cluster in conflict by another one. Returns false if call->state has been set to
 * another part.
 */
static bool settle_cluster(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			   struct sws_slots_work *work)
{
	while (conflicts(self, cpu, call->offset)) {
		if (call->given) {
			call->state = SWS_CALL_DONE;
			return false;
		}
		if (!try_cluster(self, cpu, call, work)) {
			call->state = SWS_CALL_SCAN;
			return false;
		}
	}
	return true;
}

static void take_slot(struct sws_slots *self, struct sws_slots_call *call)
{
	const uint32_t offset = call->offset;

	self->map[offset] = SWS_SLOT_CACHED | SWS_SLOT_IDLE;
	if (self->clusters) {
		struct slots_cluster *cluster = &self->clusters[offset / self->cluster_size];

		if (cluster->free)
			sws_slots__take_free_cluster(self);
		cluster->count++;
	}
	slots_count_taken(self, offset);
	call->slots[call->given++] = offset;
}

/* Tests the slot at the offset under the lock. Returns true if it was taken. */
static bool check(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
		  struct sws_slots_work *work)
{
	uint8_t usage = 0;

	if (self->clusters && !settle_cluster(self, cpu, call, work))
		return false;
	if (!self->highest) {
		call->state = SWS_CALL_NO_PAGE;
		return false;
	}
	/*
	 * highest has fallen while the lock was dropped, or the base (4.8) is above it. The scan
	 * continues at lowest, which becomes its base; its second lap is then empty.
	 */
	if (call->offset > self->highest) {
		call->offset = self->lowest;
		call->scan_base = self->lowest;
	}
	if (self->clusters && self->rules->cluster_locks)
		work->cluster_lock++;
	usage = self->map[call->offset];
	if ((usage & ~SWS_SLOT_IDLE) == SWS_SLOT_CACHED && sws_slots_swap_full(self)) {
		work->reclaims++;
		call->state = SWS_CALL_RECLAIM;
		return false;
	}
	/*
	 * Another CPU has taken the slot. A call that already has slots ends and does not drop the
	 * lock for more.
	 */
	if (usage) {
		call->state = call->given ? SWS_CALL_DONE : SWS_CALL_SCAN;
		return false;
	}
	take_slot(self, call);
	work->given++;
	return true;
}

/*
 * Returns true if the call tests another slot after one was taken. The ration belongs to the call,
 * not to the part, so it is reduced by what the scan spent without the lock.
 *
 *      6.1, the scan found its slot at test 253     256 -> 3
 *      one for this test                              3 -> 2
 *      the quick scan has one test left, which is the slot just taken: done, 1 slot allocated
 *
 * A scan whose ration ran out started again with 256, so the number alone would look unused;
 * scanned_many records the event and disables the quick scan.
 */
static bool look_for_more(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			  struct sws_slots_work *work)
{
	if (call->given == call->wanted || call->offset >= self->highest)
		return false;
	if (--call->ration < 0)
		return false;
	if (self->clusters) {
		if (try_cluster(self, cpu, call, work))
			return true;
		if (!self->rules->scans_for_more)
			return false;
	} else {
		/*
		 * Without a run left the slot is skipped; this happens in 5.7 only, without a
		 * visible effect.
		 */
		if (self->cluster_nr && !self->map[++call->offset]) {
			self->cluster_nr--;
			return true;
		}
		if (!self->rules->scans_for_more)
			return false;
	}
	return !call->scanned_many && sws_slots__quick_scan(self, call, work);
}

static void take_slots(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
		       struct sws_slots_work *work)
{
	while (check(self, cpu, call, work)) {
		if (self->rules->stores_each_slot)
			store_base(self, cpu, call, work);
		if (!look_for_more(self, cpu, call, work)) {
			call->state = SWS_CALL_DONE;
			break;
		}
	}
	if (call->state == SWS_CALL_DONE) {
		if (!self->rules->stores_each_slot)
			store_base(self, cpu, call, work);
		end(self, call, SWS_CALL_DONE);
	} else if (call->state == SWS_CALL_NO_PAGE) {
		end(self, call, SWS_CALL_NO_PAGE);
	}
}

int sws_slots_call_begin(struct sws_slots *self, int64_t mm, uint32_t wanted,
			 struct sws_slots_call *call, struct sws_slots_work *work)
{
	if (!wanted || mm < -1 || mm >= (int64_t)self->address_spaces)
		return SWS_ERROR_BAD_ARGUMENT;
	*call = (struct sws_slots_call){ .mm = mm, .ration = SWS_SLOTS_RATION };
	if (self->rules->one_slot_a_call)
		wanted = 1;
	if (wanted > SWS_SLOTS_BATCH)
		wanted = SWS_SLOTS_BATCH;
	call->wanted = wanted < self->credit ? wanted : self->credit;
	self->credit -= call->wanted;
	work->calls += call->wanted > 0;
	call->state = call->wanted ? SWS_CALL_START : SWS_CALL_NO_PAGE;
	return SWS_OK;
}

int sws_slots_call_locked(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			  struct sws_slots_work *work)
{
	if (cpu >= self->possible_cpus)
		return SWS_ERROR_BAD_ARGUMENT;
	switch (call->state) {
	case SWS_CALL_START:
		start_locked(self, cpu, call, work);
		break;
	case SWS_CALL_SEARCHED:
		take_run(self, call);
		break;
	case SWS_CALL_RECLAIMED:
		call->state = call->reclaimed ? SWS_CALL_CHECK : SWS_CALL_SCAN;
		break;
	case SWS_CALL_EXHAUSTED:
		end(self, call, SWS_CALL_NO_PAGE);
		break;
	case SWS_CALL_CHECK:
		break;
	default:
		return SWS_ERROR_BAD_ARGUMENT;
	}
	work->si_lock++;
	if (call->state == SWS_CALL_CHECK)
		take_slots(self, cpu, call, work);
	return SWS_OK;
}

int sws_slots_call_reclaimed(struct sws_slots_call *call, bool freed)
{
	if (call->state != SWS_CALL_RECLAIM)
		return SWS_ERROR_BAD_ARGUMENT;
	call->reclaimed = freed;
	call->state = SWS_CALL_RECLAIMED;
	return SWS_OK;
}

int sws_slots_call_next(struct sws_slots *self, uint32_t cpu, struct sws_slots_call *call,
			struct sws_slots_work *work)
{
	if (call->state == SWS_CALL_SCAN || call->state == SWS_CALL_SEARCH)
		return sws_slots_call_unlocked(self, call, work);
	return sws_slots_call_locked(self, cpu, call, work);
}

static int reclaim(struct sws_slots *self, struct sws_slots_call *call, struct sws_slots_work *work)
{
	const bool page_is_there = self->map[call->offset] == SWS_SLOT_CACHED;
	int error = SWS_OK;

	if (page_is_there)
		error = sws_slots_free_entries(self, &call->offset, 1, work);
	return error ? error : sws_slots_call_reclaimed(call, page_is_there);
}

int sws_slots_allocate(struct sws_slots *self, uint32_t cpu, int64_t mm, uint32_t wanted,
		       struct sws_slots_call *call, struct sws_slots_work *work)
{
	int error = SWS_OK;

	if (cpu >= self->possible_cpus)
		return SWS_ERROR_BAD_ARGUMENT;
	error = sws_slots_call_begin(self, mm, wanted, call, work);
	while (!error && call->state < SWS_CALL_DONE)
		error = call->state == SWS_CALL_RECLAIM
				? reclaim(self, call, work)
				: sws_slots_call_next(self, cpu, call, work);
	return error;
}
