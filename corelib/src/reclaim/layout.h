/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/layout.h - pages by frame, their lists and zones, the references to them, and the actors.
 *
 * One anonymous page that is swapped out and in again:
 *
 *                      page table entry    its page                         its slot
 *      touched         present | frame     on ACTIVE, no slot               -
 *      given a slot    slot                DIRTY, then WRITEBACK            owner, frame
 *      written         slot                on INACTIVE, clean               owner, frame
 *      reclaimed       slot                (free)                           owner
 *      faulted in      slot                READING                          owner, frame
 *      mapped, read    present | frame     on INACTIVE, retains its slot    owner, frame
 *      mapped, written present | frame     no slot                          (free)
 */
#ifndef SWAPSIM_RECLAIM_LAYOUT_H
#define SWAPSIM_RECLAIM_LAYOUT_H

#include "swapsim/reclaim.h"

#include "engine/engine.h"

#define NO_FRAME UINT32_MAX

enum {
	NR_ZONES = SWS_RECLAIM_ZONES,
	ZONE_DMA32 = 0,
	ZONE_NORMAL = 1,
	SWAP_CLUSTER_MAX = 32,
	/* Maximum number of pages of one event of a task or of the flusher. */
	BATCH_PAGES = 1024,
	/* Pages that the writer dirties between two calls of balance_dirty_pages. */
	DIRTY_BATCH_PAGES = 32,
};

/* The location of a page: the first four are LRU lists, in the order in which they are scanned. */
enum page_place {
	LRU_INACTIVE_ANON = 0,
	LRU_ACTIVE_ANON = 1,
	LRU_INACTIVE_FILE = 2,
	LRU_ACTIVE_FILE = 3,
	NR_LRU_LISTS = 4,
	/* Isolated by a reclaimer. */
	PLACE_ISOLATED = 4,
	PLACE_FREE = 5,
	/* On no list and without an owner: under writeback, and free when that ends. */
	PLACE_DETACHED = 6,
};

enum page_flag {
	PAGE_FILE = 1,
	PAGE_DIRTY = 2,
	PAGE_WRITEBACK = 4,
	PAGE_RECLAIM = 8,
	PAGE_REFERENCED = 16,
	/* In the client's page table, or in that of a program. */
	PAGE_MAPPED = 32,
	/* Being read, and locked. */
	PAGE_READING = 64,
	/* Without an owner: free as soon as its reclaimer and its writeback have ended. */
	PAGE_ORPHAN = 128,
	/* Written to the server, but in its memory only. */
	PAGE_UNSTABLE = 256,
	/* A page of a program that each reference test finds touched. */
	PAGE_PROGRAM = 512,
	/* A page of a program that was touched since the last reference test. */
	PAGE_TOUCHED = 1024,
	/* A page of a program that is mapped with VM_EXEC. */
	PAGE_EXECUTABLE = 2048,
};

struct page {
	/*
	 * The neighbours on a list, towards the tail and towards the head; a free page uses next
	 * only.
	 */
	uint32_t next;
	uint32_t previous;
	/* The index in the pool or in the file. */
	uint32_t index;
	/* The slot; 0 means no slot. */
	uint32_t slot;
	/* enum page_place */
	uint8_t place;
	/* Bits of enum page_flag. */
	uint16_t flags;
};

_Static_assert(sizeof(struct page) == 20, "reclaim.h says how much memory a page takes");

/* A page table entry: 0 for a page that was never touched, a slot, or a frame with these flags. */
#define PTE_PRESENT  0x80000000u
#define PTE_YOUNG    0x40000000u
#define PTE_WRITABLE 0x20000000u
#define PTE_FRAME    0x1fffffffu

struct list {
	uint32_t head;
	uint32_t tail;
	uint32_t n;
};

/* The lruvec of a zone; arrays are indexed by 0 for anonymous and 1 for file pages. */
struct lru {
	struct list lists[NR_LRU_LISTS];
	uint64_t recent_scanned[2];
	uint64_t recent_rotated[2];
};

struct zone {
	uint32_t first;
	uint32_t pages;
	uint32_t free;
	uint32_t free_head;
	/*
	 * Frames that were ever allocated, from the first one; the records of later ones are not
	 * written yet.
	 */
	uint32_t used;
	uint32_t min;
	uint32_t low;
	uint32_t high;
	/* Pages reserved against users of the zone above. */
	uint32_t reserve;
	/* Pages that do not count as dirtyable. */
	uint32_t dirty_reserve;
	/* Maximum ratio of active to inactive anonymous pages. */
	uint32_t inactive_ratio;
	uint32_t dirty;
	uint32_t writeback;
	uint32_t unstable;
	/* Pages scanned since a page of the zone was last freed. */
	uint64_t pages_scanned;
	bool unreclaimable;
	uint8_t flags;
	struct sws_reclaim_zone count;
};

/*
 * The file of this round. frames has one more than the frame of each page, or 0 if it has none;
 * dirty_bits has a bit for each dirty page.
 */
struct file {
	uint32_t *frames;
	uint64_t *dirty_bits;
	uint32_t pages;
	uint32_t dirty;
	uint32_t writeback;
	uint32_t unstable;
	/* The index where the flusher continues. */
	uint32_t cursor;
	/* Time at which the oldest dirty page was dirtied. */
	uint64_t dirtied_ns;
};

/*
 * The swap area, by slot: one more than the number of the owner, or 0; one more than the frame of
 * its page in the swap cache, or 0; and a bit for each free slot.
 */
struct swap {
	uint32_t *owners;
	uint32_t *frames;
	uint64_t *free_bits;
	uint32_t pages;
	uint32_t used;
	uint32_t cursor;
};

/* The queues: reads, in order of arrival; writes of fdatasync and other writes, by position. */
enum disk_queue {
	QUEUE_READS,
	QUEUE_SYNC_WRITES,
	QUEUE_WRITES,
	NR_QUEUES,
};

struct request {
	uint64_t at;
	uint64_t since;
	uint32_t pages;
	enum disk_queue queue;
};

struct queue {
	struct request *requests;
	uint32_t n;
};

struct disk {
	struct queue queues[NR_QUEUES];
	/* Capacity of each queue. */
	uint32_t room;
	struct request serving;
	bool busy;
	bool congested;
	/* The position after the last page served. */
	uint64_t head;
	/* Time up to which queue_ns is counted. */
	uint64_t counted_ns;
};

/* The measured write rate of the file in pages per second, and the running sample. */
struct bandwidth {
	uint64_t rate;
	uint64_t since;
	uint64_t pages;
};

/*
 * A call to the server: a write of consecutive pages of the file, or a commit, which has no pages.
 */
struct call {
	uint32_t first;
	uint32_t pages;
	/* True for a stable write: the server answers after the pages are on its disk. */
	bool stable;
};

/* Calls in order of arrival, in a ring buffer. */
struct calls {
	struct call *ring;
	uint32_t room;
	uint32_t first;
	uint32_t n;
};

/* An NFS server. All calls cross the network; commits and stable writes then go to its disk. */
struct server {
	struct calls net;
	struct calls disk;
	/* Unstable pages, and pages of the commit under way, by index in the file. */
	uint32_t *unstable;
	uint32_t *committing;
	uint32_t n_unstable;
	uint32_t n_committing;
	/* Pages in the server's memory that are not on its disk. */
	uint32_t in_memory;
	/* Pages under writeback above which the server is congested. */
	uint32_t congested_from;
	bool congested;
};

enum actor_kind {
	ACTOR_CLIENT,
	ACTOR_WRITER,
	ACTOR_FLUSHER,
	ACTOR_KSWAPD,
	ACTOR_DISK,
	ACTOR_NET,
	ACTOR_SERVER,
	/* The two parts of the programs. */
	ACTOR_PROGRAMS,
	ACTOR_WORKING,
	NR_ACTORS,
};

enum wait_for {
	WAIT_WAKE_UP,
	/* congestion_wait and wait_iff_congested. */
	WAIT_CONGESTION,
	/* Room in the queue of other writes, or of the writes of fdatasync. */
	WAIT_ROOM,
	WAIT_SYNC_ROOM,
	/* The end of the read of a page. */
	WAIT_READ,
	/* The end of all writes of the file. */
	WAIT_SYNC,
	/* A commit of the server, in reclaim. */
	WAIT_COMMIT,
};

/* The state of an actor's reclaim: scan_control, and the isolated list. */
struct scan {
	bool kswapd;
	uint8_t priority;
	uint64_t wanted;
	uint64_t reclaimed;
	uint64_t scanned;
	/* Pages of each list of the current zone: the targets, and the rest of them. */
	uint32_t targets[NR_LRU_LISTS];
	uint32_t left[NR_LRU_LISTS];
	bool adjusted;
	/* The state of the isolated list in stall.h. */
	struct sws_stall_list stall;
	/* Sums over all lists of this pass, for rules that decide per pass. */
	struct sws_stall_counts pass;
	struct sws_stall_decision decision;
	uint32_t pages[SWAP_CLUSTER_MAX];
	/* The result for each page: freed, or the list to which it returns. */
	uint8_t outcomes[SWAP_CLUSTER_MAX];
	uint32_t n;
	uint32_t at;
	/* Work of the list whose time has not passed yet. */
	uint64_t ns;
};

struct actor {
	struct engine_thread thread;
	struct sws_reclaim *reclaim;
	enum actor_kind kind;
	struct scan scan;
};

struct sws_reclaim {
	struct sws_allocator allocator;
	struct sws_reclaim_config config;
	const struct sws_stall_rules *rules;
	struct engine engine;
	struct actor actors[NR_ACTORS];
	struct zone zones[NR_ZONES];
	struct lru lrus[NR_ZONES];
	uint32_t n_zones;
	struct page *pages;
	uint32_t n_pages;
	uint32_t *ptes;
	uint32_t n_ptes;
	struct file file;
	struct swap swap;
	struct disk disk;
	struct server server;
	struct bandwidth bandwidth;
	uint32_t *file_pages;
	struct sws_reclaim_counts counts;
	struct sws_reclaim_round rounds[SWS_RECLAIM_ROUNDS_MAX];
	uint32_t round;
	/* True until the writer has written the file of this round. */
	bool writes_file;
	/* True while the writer waits until enough memory is in use. */
	bool writer_looks;
	/* The index of the first page of a program: the size of the largest file. */
	uint32_t first_program;
	/* Pages that reclaim has requested from the flusher. */
	uint64_t flush_asked;
	bool out_of_memory;
	bool over;
	/* Units of work of this call, and the number of all events. */
	uint64_t work;
	uint64_t events;
};

static inline uint64_t time_now(const struct sws_reclaim *self)
{
	return engine_now(&self->engine);
}

static inline uint32_t zone_of(const struct sws_reclaim *self, uint32_t frame)
{
	return frame >= self->zones[ZONE_NORMAL].first;
}

static inline bool page_is(const struct page *page, unsigned int flags)
{
	return (page->flags & flags) != 0;
}

static inline void page_set(struct page *page, unsigned int flags)
{
	page->flags = (uint16_t)(page->flags | flags);
}

static inline void page_clear(struct page *page, unsigned int flags)
{
	page->flags = (uint16_t)(page->flags & ~flags);
}

#endif
