/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ours, for the lab kernel: what the events of include/trace/events/reclaim.h tell, gathered where mm/vmscan.c decides. A flag
 * that a decision rests on is read once, here, and kept as it was read: an interrupt between two reads then shows in the event.
 * reclaim-events.cocci puts the calls in.
 */
#ifndef _LINUX_RECLAIM_EVENTS_H
#define _LINUX_RECLAIM_EVENTS_H

#include <linux/buffer_head.h>
#include <linux/memcontrol.h>
#include <linux/mm_inline.h>
#include <linux/mmzone.h>
#include <linux/pagemap.h>
#include <linux/swapops.h>

/* Flags of a node, and of the lruvec that reclaim aims at, as one number. */
#define RECLAIM_FLAG_DIRTY     1
#define RECLAIM_FLAG_WRITEBACK 2
#define RECLAIM_FLAG_CONGESTED 4

enum reclaim_outcome {
	RECLAIM_KEPT,
	RECLAIM_RECLAIMED,
	RECLAIM_ACTIVATED,
	RECLAIM_WRITTEN,
	RECLAIM_CULLED,
};

/* Where a folio's way ended, in the order of the way. */
enum reclaim_step {
	RECLAIM_AT_LOCK,
	RECLAIM_AT_EVICTABLE,
	RECLAIM_AT_MAPPED,
	RECLAIM_AT_WRITEBACK_1,
	RECLAIM_AT_WRITEBACK_2,
	RECLAIM_AT_WRITEBACK_3,
	RECLAIM_AT_REFERENCE_ACTIVATE,
	RECLAIM_AT_REFERENCE_KEEP,
	RECLAIM_AT_DEMOTE,
	RECLAIM_AT_SWAP,
	RECLAIM_AT_UNMAP,
	RECLAIM_AT_PINNED,
	RECLAIM_AT_DIRTY,
	RECLAIM_AT_NO_WRITE,
	RECLAIM_AT_PAGEOUT_KEEP,
	RECLAIM_AT_PAGEOUT_ACTIVATE,
	RECLAIM_AT_WRITTEN,
	RECLAIM_AT_RELEASE,
	RECLAIM_AT_REMOVE,
	RECLAIM_AT_FREED,
};

enum reclaim_why {
	RECLAIM_BALANCED,
	RECLAIM_SHRUNK,
	RECLAIM_IMMEDIATE,
	RECLAIM_DIRECT,
};

/* No answer yet: such a field is null in the tables. */
#define RECLAIM_UNASKED -1

/* One folio's way through shrink_folio_list. */
struct reclaim_way {
	unsigned long mapping, index;
	unsigned int pages;
	enum reclaim_step step;
	enum reclaim_outcome outcome;
	bool file, lazyfree, swap, private;
	bool dirty, writeback, reclaim;
	s8 buffers, fs_dirty, fs_writeback;
	s8 under_writeback, marked, node_flags;
	s8 clean;
	/* Is its device congested with writes? */
	s8 device;
};

/* Who reclaims: in struct scan_control. No pass or list, 0, is told of. */
struct reclaim_asker {
	u64 pass, list;
	/* When the pass began, when the list began. */
	unsigned long pass_scanned, pass_reclaimed, list_scanned;
	u8 pass_flags, list_flags;
	/* Set by the list, or by the pass, since it began. */
	u8 flags_set;
	/* As the test for the sleep of direct reclaim saw the flag. */
	s8 congested;
	/* The last sleep asked for: its reason + 1. */
	u8 throttle;
};

/* Sleeps of 2013, behind those of enum vmscan_throttle_state. */
#define RECLAIM_CONGESTION_WAIT    NR_VMSCAN_THROTTLE
#define RECLAIM_WAIT_IFF_CONGESTED (NR_VMSCAN_THROTTLE + 1)

/* What reclaim_throttle decides by, and what the sleeps of 2013 do. */
struct reclaim_sleep {
	bool kthread;
	int failures, reclaimable, write_pending;
	int congested_devices, flags;
};

/* A number for what begins now: 0 while nothing is recorded, for its beginning would be missing. */
static inline u64 reclaim_next(atomic64_t *last)
{
	return tracing_is_on() ? (u64)atomic64_inc_return(last) : 0;
}

static inline u8 reclaim_node_flags(pg_data_t *pgdat)
{
	unsigned long flags = READ_ONCE(pgdat->flags);

	return (test_bit(PGDAT_DIRTY, &flags) ? RECLAIM_FLAG_DIRTY : 0) |
	       (test_bit(PGDAT_WRITEBACK, &flags) ? RECLAIM_FLAG_WRITEBACK : 0);
}

/* Of mm/reclaim_rules.h: whose congestion it is. */
static struct mem_cgroup *flagged_cgroup(struct mem_cgroup *target);

static inline u8 reclaim_flags(pg_data_t *pgdat, struct mem_cgroup *target)
{
	struct lruvec *lruvec = mem_cgroup_lruvec(flagged_cgroup(target), pgdat);

	return reclaim_node_flags(pgdat) |
	       (test_bit(LRUVEC_CONGESTED, &lruvec->flags) ? RECLAIM_FLAG_CONGESTED : 0);
}

/* A cgroup's number, 0 for the root. */
static inline unsigned int reclaim_memcg(struct mem_cgroup *memcg)
{
	return memcg && !mem_cgroup_is_root(memcg) ? mem_cgroup_id(memcg) : 0;
}

static inline void reclaim_way_reads(struct reclaim_way *way, struct folio *folio)
{
	way->file = folio_is_file_lru(folio);
	way->lazyfree = folio_test_anon(folio) && !folio_test_swapbacked(folio);
	way->swap = folio_test_swapcache(folio);
	way->private = folio_test_private(folio);
	way->dirty = folio_test_dirty(folio);
	way->writeback = folio_test_writeback(folio);
	way->reclaim = folio_test_reclaim(folio);
}

/* The folio is not locked: whose it is, is read as far as that does no harm. */
static inline void reclaim_way_begins(struct reclaim_way *way, struct folio *folio)
{
	*way = (struct reclaim_way){
		.pages = folio_nr_pages(folio),
		.buffers = RECLAIM_UNASKED,
		.fs_dirty = RECLAIM_UNASKED,
		.fs_writeback = RECLAIM_UNASKED,
		.under_writeback = RECLAIM_UNASKED,
		.marked = RECLAIM_UNASKED,
		.node_flags = RECLAIM_UNASKED,
		.clean = RECLAIM_UNASKED,
		.device = RECLAIM_UNASKED,
	};
	reclaim_way_reads(way, folio);
	if (!folio_test_anon(folio)) {
		way->mapping = (unsigned long)folio->mapping & ~PAGE_MAPPING_FLAGS;
		way->index = folio->index;
	}
}

/* An index of the swap cache is the slot's offset in its device. */
static inline void reclaim_way_locked(struct reclaim_way *way, struct folio *folio)
{
	way->step = RECLAIM_AT_EVICTABLE;
	reclaim_way_reads(way, folio);
	way->mapping = (unsigned long)folio_mapping(folio);
	if (way->swap)
		way->index = swp_offset(folio_swap_entry(folio));
	else
		way->index = way->mapping ? folio->index : 0;
}

/* The folio's own flags, as the accounting read them. */
static inline void reclaim_way_accounted(struct reclaim_way *way, bool dirty, bool writeback)
{
	way->dirty = dirty;
	way->writeback = writeback;
}

/* What its file system says of it, or left as it was: by its buffers, or NFS by itself. */
static inline void reclaim_way_answered(struct reclaim_way *way, struct address_space *mapping,
					bool dirty, bool writeback)
{
	way->buffers = mapping->a_ops->is_dirty_writeback == buffer_check_dirty_writeback;
	way->fs_dirty = dirty;
	way->fs_writeback = writeback;
}

static inline bool reclaim_way_private(struct reclaim_way *way, struct folio *folio)
{
	way->private = folio_test_private(folio);
	return way->private;
}

/* First read by the accounting, then by the three cases or by the right to write. */
static inline bool reclaim_way_marked(struct reclaim_way *way, struct folio *folio)
{
	bool marked = folio_test_reclaim(folio);

	if (way->under_writeback == RECLAIM_UNASKED)
		way->reclaim = marked;
	else
		way->marked = marked;
	return marked;
}

/* The test of the three cases. */
static inline bool reclaim_way_cases(struct reclaim_way *way, struct folio *folio, pg_data_t *pgdat)
{
	way->step = RECLAIM_AT_REFERENCE_ACTIVATE;
	way->node_flags = reclaim_node_flags(pgdat);
	way->under_writeback = folio_test_writeback(folio);
	return way->under_writeback;
}

static inline bool reclaim_way_node(struct reclaim_way *way, pg_data_t *pgdat, u8 flag)
{
	way->node_flags = reclaim_node_flags(pgdat);
	return way->node_flags & flag;
}

/* To the active list, or to nowhere if it is locked into memory: the count of activations tells. */
static inline void reclaim_way_turned_away(struct reclaim_way *way)
{
	if (way->step == RECLAIM_AT_PAGEOUT_KEEP)
		way->step = RECLAIM_AT_PAGEOUT_ACTIVATE;
	way->outcome = RECLAIM_CULLED;
}

/* The test for the sleep of direct reclaim. */
static inline bool reclaim_congested(struct reclaim_asker *asker, struct lruvec *lruvec)
{
	asker->congested = test_bit(LRUVEC_CONGESTED, &lruvec->flags);
	return asker->congested;
}

/* Flags as a pass leaves them, as it saw them itself where it looked. */
static inline u8 reclaim_flags_after(pg_data_t *pgdat, struct mem_cgroup *target,
				     const struct reclaim_asker *asker)
{
	u8 flags = reclaim_flags(pgdat, target);

	if (asker->congested == RECLAIM_UNASKED)
		return flags;
	return (flags & ~RECLAIM_FLAG_CONGESTED) | (asker->congested ? RECLAIM_FLAG_CONGESTED : 0);
}

#endif
