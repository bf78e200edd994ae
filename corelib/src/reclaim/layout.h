/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/layout.h - pages by frame, their lists and zones, what points to them, and the actors.
 *
 * One anonymous page on its way out and in again:
 *
 *                      page table entry    its page                     its slot
 *      touched         present | frame     on ACTIVE, no slot           -
 *      given a slot    slot                DIRTY, then WRITEBACK        owner, frame
 *      written         slot                on INACTIVE, clean           owner, frame
 *      reclaimed       slot                (free)                       owner
 *      asked for       slot                READING                      owner, frame
 *      back, read      present | frame     on INACTIVE, keeps its slot  owner, frame
 *      back, written   present | frame     no slot                      (free)
 */
#ifndef SWAPSIM_RECLAIM_LAYOUT_H
#define SWAPSIM_RECLAIM_LAYOUT_H

#include "swapsim/reclaim.h"

#include "engine/engine.h"

#define VM_NONE UINT32_MAX

enum {
	VM_ZONES = SWS_RECLAIM_ZONES,
	VM_DMA32 = 0,
	VM_NORMAL = 1,
	/* SWAP_CLUSTER_MAX */
	VM_CLUSTER = 32,
	/* Pages that a task or the flusher does in one go. */
	VM_BATCH = 1024,
	/* Dirtied between two looks of the writer at how many are dirty. */
	VM_DIRTY_BATCH = 32,
};

/* Where a page is: the first four are lists, in the order in which they are scanned. */
enum vm_place {
	VM_INACTIVE_ANON = 0,
	VM_ACTIVE_ANON = 1,
	VM_INACTIVE_FILE = 2,
	VM_ACTIVE_FILE = 3,
	VM_LISTS = 4,
	/* With a reclaimer. */
	VM_ISOLATED = 4,
	VM_FREE = 5,
	/* Under writeback, its owner gone: free when that ends. */
	VM_ADRIFT = 6,
};

enum vm_flag {
	VM_FILE = 1,
	VM_DIRTY = 2,
	VM_WRITEBACK = 4,
	VM_RECLAIM = 8,
	VM_REFERENCED = 16,
	/* In the client's page table. */
	VM_MAPPED = 32,
	/* Being read; locked. */
	VM_READING = 64,
	/* Its owner is gone: free as soon as reclaimer and writeback let go of it. */
	VM_ORPHAN = 128,
	/* The server has it, in its memory alone. */
	VM_UNSTABLE = 256,
	/* Of a program: touched whenever it is looked at. */
	VM_PROGRAM = 512,
};

struct page {
	/* Its neighbours on a list, towards tail and head; next alone when free. */
	uint32_t next;
	uint32_t previous;
	/* In the pool, or in the file. */
	uint32_t index;
	/* 0: none. */
	uint32_t slot;
	/* enum vm_place */
	uint8_t place;
	/* enum vm_flag */
	uint16_t flags;
};

/* A page table entry: 0 for a page never touched; a slot; or a frame with these. */
#define VM_PTE_PRESENT  0x80000000u
#define VM_PTE_YOUNG    0x40000000u
#define VM_PTE_WRITABLE 0x20000000u
#define VM_PTE_FRAME    0x1fffffffu

struct list {
	uint32_t head;
	uint32_t tail;
	uint32_t n;
};

/* lruvec: the lists that are scanned together; of a zone. By anon, file. */
struct lru {
	struct list lists[VM_LISTS];
	uint64_t recent_scanned[2];
	uint64_t recent_rotated[2];
};

struct zone {
	uint32_t first;
	uint32_t pages;
	uint32_t free;
	uint32_t free_head;
	/* Frames that somebody had, the first ones: those behind them have no record yet. */
	uint32_t used;
	uint32_t min;
	uint32_t low;
	uint32_t high;
	/* Kept from those who may use the zone above. */
	uint32_t reserve;
	/* Pages that count as dirtyable are less by this. */
	uint32_t dirty_reserve;
	/* Active anonymous pages to an inactive one at most. */
	uint32_t inactive_ratio;
	uint32_t dirty;
	uint32_t writeback;
	uint32_t unstable;
	/* Since a page of it was freed last. */
	uint64_t pages_scanned;
	bool unreclaimable;
	uint8_t flags;
	struct sws_reclaim_zone count;
};

/* The file of this round: by index a frame and one more, or 0; and a bit for each dirty page. */
struct file {
	uint32_t *frames;
	uint64_t *dirty_bits;
	uint32_t pages;
	uint32_t dirty;
	uint32_t writeback;
	uint32_t unstable;
	/* Where the flusher goes on. */
	uint32_t cursor;
	/* Of the oldest dirty page. */
	uint64_t dirtied_ns;
};

/* By slot: who owns it, and its page in the swap cache, one more than the number, or 0; is it free? */
struct swap {
	uint32_t *owners;
	uint32_t *frames;
	uint64_t *free_bits;
	uint32_t pages;
	uint32_t used;
	uint32_t cursor;
};

/* Reads, by their coming; what fdatasync writes, and what others write, by their places. */
enum vm_queue {
	VM_READS,
	VM_SYNC_WRITES,
	VM_WRITES,
	VM_QUEUES,
};

struct request {
	uint64_t at;
	uint64_t since;
	uint32_t pages;
	enum vm_queue queue;
};

struct queue {
	struct request *requests;
	uint32_t n;
};

struct disk {
	struct queue queues[VM_QUEUES];
	/* Of each. */
	uint32_t room;
	struct request serving;
	bool busy;
	bool congested;
	/* Behind the last page served. */
	uint64_t head;
	/* queue_ns is up to here. */
	uint64_t counted_ns;
};

/* Pages of the file written a second, and what that was measured by. */
struct bandwidth {
	uint64_t rate;
	uint64_t since;
	uint64_t pages;
};

/* A call to the server: a run of the file's pages to be written, or a commit, of no page. */
struct call {
	uint32_t first;
	uint32_t pages;
	/* It is to be on the server's disk before it is answered. */
	bool stable;
};

/* By their coming: a ring. */
struct calls {
	struct call *ring;
	uint32_t room;
	uint32_t first;
	uint32_t n;
};

/* Of a network filesystem. Calls go over the net, and what needs it to the server's disk. */
struct server {
	struct calls net;
	struct calls disk;
	/* By their places in the file: unstable pages, and those of the commit under way. */
	uint32_t *unstable;
	uint32_t *committing;
	uint32_t n_unstable;
	uint32_t n_committing;
	/* Pages that the server has not on its disk yet. */
	uint32_t in_memory;
	/* Pages under writeback above which it is congested. */
	uint32_t congested_from;
	bool congested;
};

enum vm_actor {
	VM_CLIENT,
	VM_WRITER,
	VM_FLUSHER,
	VM_KSWAPD,
	VM_DISK,
	VM_NET,
	VM_SERVER,
	VM_ACTORS,
};

enum vm_sleep {
	SLEEP_TO_BE_WOKEN,
	/* congestion_wait and wait_iff_congested. */
	SLEEP_CONGESTION,
	/* For room among the writes, and among what fdatasync writes. */
	SLEEP_ROOM,
	SLEEP_SYNC_ROOM,
	/* For a page to be read. */
	SLEEP_READ,
	/* For all of the file to be written. */
	SLEEP_SYNC,
	/* In reclaim, for a server's commit. */
	SLEEP_COMMIT,
};

/* An actor's reclaim under way: scan_control, and the list in its hands. */
struct scan {
	bool kswapd;
	uint8_t priority;
	uint64_t wanted;
	uint64_t reclaimed;
	uint64_t scanned;
	/* By list, of the zone at hand. */
	uint32_t targets[VM_LISTS];
	uint32_t left[VM_LISTS];
	bool adjusted;
	/* The list in hand. */
	struct sws_stall_list stall;
	/* Of all lists of this pass, for rules that decide by pass. */
	struct sws_stall_counts pass;
	struct sws_stall_decision decision;
	uint32_t pages[VM_CLUSTER];
	/* Of each: freed, or the list that it goes back to. */
	uint8_t fates[VM_CLUSTER];
	uint32_t n;
	uint32_t at;
	/* Work on it that is still to be spent. */
	uint64_t ns;
};

struct actor {
	struct engine_thread thread;
	struct sws_reclaim *vm;
	enum vm_actor kind;
	struct scan scan;
};

struct sws_reclaim {
	struct sws_allocator allocator;
	struct sws_reclaim_config config;
	const struct sws_stall_rules *rules;
	struct engine engine;
	struct actor actors[VM_ACTORS];
	struct zone zones[VM_ZONES];
	struct lru lrus[VM_ZONES];
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
	/* The writer has not done this round's file. */
	bool writes_file;
	/* Reclaim has asked the flusher for so many pages. */
	uint64_t flush_asked;
	bool out_of_memory;
	bool over;
	/* Work done in this call, and events of all. */
	uint64_t work;
	uint64_t events;
};

static inline uint64_t vm_now(const struct sws_reclaim *vm)
{
	return engine_now(&vm->engine);
}

static inline uint32_t vm_zone_of(const struct sws_reclaim *vm, uint32_t frame)
{
	return frame >= vm->zones[VM_NORMAL].first;
}

static inline bool vm_is(const struct page *page, unsigned int flags)
{
	return (page->flags & flags) != 0;
}

static inline void vm_set(struct page *page, unsigned int flags)
{
	page->flags = (uint16_t)(page->flags | flags);
}

static inline void vm_clear(struct page *page, unsigned int flags)
{
	page->flags = (uint16_t)(page->flags & ~flags);
}

#endif
