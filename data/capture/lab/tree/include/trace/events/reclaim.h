/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ours, for the lab kernel: what reclaim met, decided and slept, one event a row of the tables that the rig makes of them. Each
 * is written when what it tells of ends. Included behind struct scan_control of mm/vmscan.c, which they read.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM reclaim

#if !defined(_TRACE_RECLAIM_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_RECLAIM_H

#include <linux/reclaim_events.h>
#include <linux/tracepoint.h>

#ifndef _TRACE_RECLAIM_WORDS
#define _TRACE_RECLAIM_WORDS
#define show_reclaim_outcome(outcome)                                                              \
	__print_symbolic(outcome, { RECLAIM_KEPT, "kept" }, { RECLAIM_RECLAIMED, "reclaimed" },    \
			 { RECLAIM_ACTIVATED, "activated" }, { RECLAIM_WRITTEN, "written" },       \
			 { RECLAIM_CULLED, "culled" })
#define show_reclaim_step(step)                                                                    \
	__print_symbolic(                                                                          \
		step, { RECLAIM_AT_LOCK, "lock" }, { RECLAIM_AT_EVICTABLE, "evictable" },          \
		{ RECLAIM_AT_MAPPED, "mapped" }, { RECLAIM_AT_WRITEBACK_1, "writeback_1" },        \
		{ RECLAIM_AT_WRITEBACK_2, "writeback_2" },                                         \
		{ RECLAIM_AT_WRITEBACK_3, "writeback_3" },                                         \
		{ RECLAIM_AT_REFERENCE_ACTIVATE, "reference_activate" },                           \
		{ RECLAIM_AT_REFERENCE_KEEP, "reference_keep" }, { RECLAIM_AT_DEMOTE, "demote" },  \
		{ RECLAIM_AT_SWAP, "swap" }, { RECLAIM_AT_UNMAP, "unmap" },                        \
		{ RECLAIM_AT_PINNED, "pinned" }, { RECLAIM_AT_DIRTY, "dirty" },                    \
		{ RECLAIM_AT_NO_WRITE, "no_write" }, { RECLAIM_AT_PAGEOUT_KEEP, "pageout_keep" },  \
		{ RECLAIM_AT_PAGEOUT_ACTIVATE, "pageout_activate" },                               \
		{ RECLAIM_AT_WRITTEN, "written" }, { RECLAIM_AT_RELEASE, "release" },              \
		{ RECLAIM_AT_REMOVE, "remove" }, { RECLAIM_AT_FREED, "freed" })
/* As enum vmscan_throttle_state numbers them, from 1; 0: none. */
#define show_reclaim_throttle(throttle)                                                            \
	__print_symbolic(throttle, { 0, "none" }, { VMSCAN_THROTTLE_WRITEBACK + 1, "writeback" },  \
			 { VMSCAN_THROTTLE_ISOLATED + 1, "isolated" },                             \
			 { VMSCAN_THROTTLE_NOPROGRESS + 1, "noprogress" },                         \
			 { VMSCAN_THROTTLE_CONGESTED + 1, "congested" },                           \
			 { RECLAIM_CONGESTION_WAIT + 1, "congestion_wait" },                       \
			 { RECLAIM_WAIT_IFF_CONGESTED + 1, "wait_iff_congested" })
#define show_reclaim_why(why)                                                                      \
	__print_symbolic(why, { RECLAIM_BALANCED, "balanced" }, { RECLAIM_SHRUNK, "shrunk" },      \
			 { RECLAIM_IMMEDIATE, "immediate" }, { RECLAIM_DIRECT, "direct" })
#endif

TRACE_EVENT_CONDITION(
	reclaim_folios, TP_PROTO(u64 list, const struct reclaim_way *way, unsigned int pages_end),

	TP_ARGS(list, way, pages_end),

	TP_CONDITION(list),

	TP_STRUCT__entry(
		__field(u64, list) __field(unsigned long, mapping) __field(
			unsigned long, index) __field(unsigned short,
						      pages) __field(unsigned short,
								     pages_end) __field(u8, step)
			__field(u8, outcome) __field(bool, file) __field(bool, lazyfree) __field(
				bool, swap) __field(bool, private) __field(bool, dirty)
				__field(bool, writeback) __field(bool, reclaim) __field(s8, buffers)
					__field(s8, fs_dirty) __field(s8, fs_writeback)
						__field(s8, under_writeback) __field(s8, marked)
							__field(s8, node_flags) __field(s8, clean)
								__field(s8, device)),

	TP_fast_assign(__entry->list = list; __entry->mapping = way->mapping;
		       __entry->index = way->index; __entry->pages = way->pages;
		       __entry->pages_end = pages_end; __entry->step = way->step;
		       __entry->outcome = way->outcome; __entry->file = way->file;
		       __entry->lazyfree = way->lazyfree; __entry->swap = way->swap;
		       __entry->private = way->private; __entry->dirty = way->dirty;
		       __entry->writeback = way->writeback; __entry->reclaim = way->reclaim;
		       __entry->buffers = way->buffers; __entry->fs_dirty = way->fs_dirty;
		       __entry->fs_writeback = way->fs_writeback;
		       __entry->under_writeback = way->under_writeback;
		       __entry->marked = way->marked; __entry->node_flags = way->node_flags;
		       __entry->clean = way->clean; __entry->device = way->device;),

	TP_printk("list=%llu file=%d dirty=%d writeback=%d reclaim=%d private=%d fs_dirty=%d "
		  "fs_writeback=%d mapping=0x%lx index=%lu outcome=%s clean=%d step=%s "
		  "under_writeback=%d marked=%d node_flags=%d pages=%u pages_end=%u lazyfree=%d "
		  "swap=%d buffers=%d congested=%d",
		  __entry->list, __entry->file, __entry->dirty, __entry->writeback,
		  __entry->reclaim, __entry->private, __entry->fs_dirty, __entry->fs_writeback,
		  __entry->mapping, __entry->index, show_reclaim_outcome(__entry->outcome),
		  __entry->clean, show_reclaim_step(__entry->step), __entry->under_writeback,
		  __entry->marked, __entry->node_flags, __entry->pages, __entry->pages_end,
		  __entry->lazyfree, __entry->swap, __entry->buffers, __entry->device));

TRACE_EVENT_CONDITION(
	reclaim_lists,
	TP_PROTO(struct scan_control *sc, const struct reclaim_stat *stat, struct lruvec *lruvec,
		 bool file, unsigned long taken, unsigned int reclaimed, bool sane),

	TP_ARGS(sc, stat, lruvec, file, taken, reclaimed, sane),

	TP_CONDITION(sc->asker.list),

	TP_STRUCT__entry(
		__field(u64, list) __field(u64, pass) __field(int, nid) __field(
			unsigned int,
			memcg) __field(unsigned int,
				       target) __field(int, priority) __field(bool,
									      kswapd) __field(bool,
											      file)
			__field(unsigned int, taken) __field(unsigned int, dirty) __field(
				unsigned int,
				unqueued_dirty) __field(unsigned int,
							congested) __field(unsigned int, writeback)
				__field(unsigned int, immediate) __field(
					unsigned int, pageout) __field(unsigned int, activate_anon)
					__field(unsigned int, activate_file) __field(
						unsigned int,
						ref_keep) __field(unsigned int,
								  unmap_fail) __field(unsigned int,
										      lazyfree_fail)
						__field(unsigned int, scanned) __field(
							unsigned int,
							reclaimed) __field(u8, flags_before)
							__field(u8, flags_after) __field(
								u8, flags_set) __field(bool, sane)
								__field(bool, io) __field(bool, fs)
									__field(bool, hibernation)),

	TP_fast_assign(
		__entry->list = sc->asker.list; __entry->pass = sc->asker.pass;
		__entry->nid = lruvec_pgdat(lruvec)->node_id;
		__entry->memcg = reclaim_memcg(lruvec_memcg(lruvec));
		__entry->target = reclaim_memcg(sc->target_mem_cgroup);
		__entry->priority = sc->priority; __entry->kswapd = current_is_kswapd();
		__entry->file = file; __entry->taken = taken; __entry->dirty = stat->nr_dirty;
		__entry->unqueued_dirty = stat->nr_unqueued_dirty;
		__entry->congested = stat->nr_congested; __entry->writeback = stat->nr_writeback;
		__entry->immediate = stat->nr_immediate; __entry->pageout = stat->nr_pageout;
		__entry->activate_anon = stat->nr_activate[0];
		__entry->activate_file = stat->nr_activate[1];
		__entry->ref_keep = stat->nr_ref_keep; __entry->unmap_fail = stat->nr_unmap_fail;
		__entry->lazyfree_fail = stat->nr_lazyfree_fail;
		__entry->scanned = sc->nr_scanned - sc->asker.list_scanned;
		__entry->reclaimed = reclaimed; __entry->flags_before = sc->asker.list_flags;
		__entry->flags_after = reclaim_flags(lruvec_pgdat(lruvec), sc->target_mem_cgroup);
		__entry->flags_set = sc->asker.flags_set; __entry->sane = sane;
		__entry->io = sc->gfp_mask & __GFP_IO; __entry->fs = sc->gfp_mask & __GFP_FS;
		__entry->hibernation = sc->hibernation_mode;),

	TP_printk("list=%llu pass=%llu nid=%d memcg=%u priority=%d kswapd=%d file=%d taken=%u "
		  "dirty=%u unqueued_dirty=%u congested=%u writeback=%u immediate=%u pageout=%u "
		  "activate_anon=%u activate_file=%u ref_keep=%u unmap_fail=%u lazyfree_fail=%u "
		  "scanned=%u reclaimed=%u flags_before=%u flags_after=%u flags_set=%u target=%u "
		  "sane=%d io=%d fs=%d hibernation=%d",
		  __entry->list, __entry->pass, __entry->nid, __entry->memcg, __entry->priority,
		  __entry->kswapd, __entry->file, __entry->taken, __entry->dirty,
		  __entry->unqueued_dirty, __entry->congested, __entry->writeback,
		  __entry->immediate, __entry->pageout, __entry->activate_anon,
		  __entry->activate_file, __entry->ref_keep, __entry->unmap_fail,
		  __entry->lazyfree_fail, __entry->scanned, __entry->reclaimed,
		  __entry->flags_before, __entry->flags_after, __entry->flags_set, __entry->target,
		  __entry->sane, __entry->io, __entry->fs, __entry->hibernation));

TRACE_EVENT_CONDITION(
	reclaim_passes,
	TP_PROTO(pg_data_t *pgdat, struct scan_control *sc, bool may_throttle, bool sane),

	TP_ARGS(pgdat, sc, may_throttle, sane),

	TP_CONDITION(sc->asker.pass),

	TP_STRUCT__entry(
		__field(u64, pass) __field(int, nid) __field(unsigned int, memcg) __field(
			bool, kswapd) __field(int, priority) __field(unsigned int,
								     dirty) __field(unsigned int,
										    unqueued_dirty)
			__field(unsigned int, congested) __field(unsigned int, writeback) __field(
				unsigned int, immediate) __field(unsigned int, taken)
				__field(unsigned int, file_taken) __field(u8, flags_before)
					__field(u8, flags_after) __field(u8, flags_set) __field(
						u8, throttle) __field(bool, hibernation)
						__field(bool, may_throttle) __field(bool, sane)
							__field(unsigned long, scanned)
								__field(unsigned long, reclaimed)),

	TP_fast_assign(
		__entry->pass = sc->asker.pass; __entry->nid = pgdat->node_id;
		__entry->memcg = reclaim_memcg(sc->target_mem_cgroup);
		__entry->kswapd = current_is_kswapd(); __entry->priority = sc->priority;
		__entry->dirty = sc->nr.dirty; __entry->unqueued_dirty = sc->nr.unqueued_dirty;
		__entry->congested = sc->nr.congested; __entry->writeback = sc->nr.writeback;
		__entry->immediate = sc->nr.immediate; __entry->taken = sc->nr.taken;
		__entry->file_taken = sc->nr.file_taken;
		__entry->flags_before = sc->asker.pass_flags;
		__entry->flags_after = reclaim_flags_after(pgdat, sc->target_mem_cgroup,
							   &sc->asker);
		__entry->flags_set = sc->asker.flags_set; __entry->throttle = sc->asker.throttle;
		__entry->hibernation = sc->hibernation_mode; __entry->may_throttle = may_throttle;
		__entry->sane = sane; __entry->scanned = sc->nr_scanned - sc->asker.pass_scanned;
		__entry->reclaimed = sc->nr_reclaimed - sc->asker.pass_reclaimed;),

	TP_printk("pass=%llu nid=%d memcg=%u kswapd=%d priority=%d dirty=%u unqueued_dirty=%u "
		  "congested=%u writeback=%u immediate=%u taken=%u file_taken=%u flags_before=%u "
		  "flags_after=%u flags_set=%u throttle=%s hibernation=%d may_throttle=%d sane=%d "
		  "scanned=%lu reclaimed=%lu",
		  __entry->pass, __entry->nid, __entry->memcg, __entry->kswapd, __entry->priority,
		  __entry->dirty, __entry->unqueued_dirty, __entry->congested, __entry->writeback,
		  __entry->immediate, __entry->taken, __entry->file_taken, __entry->flags_before,
		  __entry->flags_after, __entry->flags_set,
		  show_reclaim_throttle(__entry->throttle), __entry->hibernation,
		  __entry->may_throttle, __entry->sane, __entry->scanned, __entry->reclaimed));

TRACE_EVENT_CONDITION(
	reclaim_rounds, TP_PROTO(pg_data_t *pgdat, struct scan_control *sc),

	TP_ARGS(pgdat, sc),

	TP_CONDITION(sc->asker.pass),

	TP_STRUCT__entry(__field(u64, pass) __field(int, nid) __field(unsigned int, memcg)
				 __field(int, priority) __field(unsigned long, scanned)
					 __field(unsigned long, reclaimed) __field(bool, kswapd)
						 __field(bool, hibernation) __field(u8, throttle)
							 __field(unsigned long, wanted)
								 __field(bool, ready)),

	TP_fast_assign(__entry->pass = sc->asker.pass; __entry->nid = pgdat->node_id;
		       __entry->memcg = reclaim_memcg(sc->target_mem_cgroup);
		       __entry->priority = sc->priority; __entry->scanned = sc->nr_scanned;
		       __entry->reclaimed = sc->nr_reclaimed; __entry->kswapd = current_is_kswapd();
		       __entry->hibernation = sc->hibernation_mode;
		       __entry->throttle = sc->asker.throttle; __entry->wanted = sc->nr_to_reclaim;
		       __entry->ready = sc->compaction_ready;),

	TP_printk("pass=%llu nid=%d memcg=%u priority=%d scanned=%lu reclaimed=%lu kswapd=%d "
		  "hibernation=%d throttle=%s wanted=%lu ready=%d",
		  __entry->pass, __entry->nid, __entry->memcg, __entry->priority, __entry->scanned,
		  __entry->reclaimed, __entry->kswapd, __entry->hibernation,
		  show_reclaim_throttle(__entry->throttle), __entry->wanted, __entry->ready));

/* Who asks for the sleep whose event throttles is the task's next one. */
TRACE_EVENT(throttle_askers, TP_PROTO(const struct reclaim_asker *asker),

	    TP_ARGS(asker),

	    TP_STRUCT__entry(__field(u64, pass) __field(u64, list)),

	    TP_fast_assign(__entry->pass = asker->pass; __entry->list = asker->list;),

	    TP_printk("pass=%llu list=%llu", __entry->pass, __entry->list));

TRACE_EVENT(
	throttles,
	TP_PROTO(pg_data_t *pgdat, int reason, unsigned int timeout_us, unsigned int delayed_us,
		 const struct reclaim_sleep *sleep),

	TP_ARGS(pgdat, reason, timeout_us, delayed_us, sleep),

	TP_STRUCT__entry(__field(int, nid) __field(int, reason) __field(unsigned int, timeout_us)
				 __field(unsigned int, delayed_us) __field(bool, kthread)
					 __field(int, failures) __field(int, reclaimable)
						 __field(int, write_pending)
							 __field(int, congested_devices)
								 __field(int, flags)),

	TP_fast_assign(__entry->nid = pgdat->node_id; __entry->reason = reason;
		       __entry->timeout_us = timeout_us; __entry->delayed_us = delayed_us;
		       __entry->kthread = sleep->kthread; __entry->failures = sleep->failures;
		       __entry->reclaimable = sleep->reclaimable;
		       __entry->write_pending = sleep->write_pending;
		       __entry->congested_devices = sleep->congested_devices;
		       __entry->flags = sleep->flags;),

	TP_printk("nid=%d reason=%s timeout_us=%u delayed_us=%u kthread=%d failures=%d "
		  "reclaimable=%d write_pending=%d congested_devices=%d flags=%d",
		  __entry->nid, show_reclaim_throttle(__entry->reason + 1), __entry->timeout_us,
		  __entry->delayed_us, __entry->kthread, __entry->failures, __entry->reclaimable,
		  __entry->write_pending, __entry->congested_devices, __entry->flags));

TRACE_EVENT(reclaim_clears, TP_PROTO(pg_data_t *pgdat, struct mem_cgroup *memcg, u8 flags, int why),

	    TP_ARGS(pgdat, memcg, flags, why),

	    TP_STRUCT__entry(__field(int, nid) __field(unsigned int, memcg) __field(u8, flags)
				     __field(int, why)),

	    TP_fast_assign(__entry->nid = pgdat->node_id; __entry->memcg = reclaim_memcg(memcg);
			   __entry->flags = flags; __entry->why = why;),

	    TP_printk("nid=%d memcg=%u flags=%u why=%s", __entry->nid, __entry->memcg,
		      __entry->flags, show_reclaim_why(__entry->why)));

#endif

#include <trace/define_trace.h>
