/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/layout.h - the state of the machine: pages of memory in nodes, slots on devices,
 * addresses that refer to one or the other, CPUs, and actors on them.
 *
 *      addresses    | walkers' ..., pages of each | writers' that end, or streams' |
 *                     state, value = page or slot
 *      pages        | node 0: frames of it | node 1 ... |
 *      tasks        distributed to the nodes in turn, walkers first
 *      CPUs         | node 0: tasks, kswapd, interrupt | node 1 ... |      cpus_per_node
 *      locks        a CPU's two slot caches, a node's lru_lock and zone->lock,
 *                   a device's si->lock, its clusters', its trees'
 *
 * Each actor has its own CPU, so its number is that of the CPU. The engine runs the procedures of
 * an actor; the local variables of a procedure are in its frame.
 */
#ifndef SWAPSIM_MACHINE_LAYOUT_H
#define SWAPSIM_MACHINE_LAYOUT_H

#include "engine/engine.h"
#include "machine/rules.h"
#include "slots/cpu_cache.h"
#include "swapsim/machine.h"

#define MACHINE_NONE   UINT32_MAX
#define MACHINE_NO_CPU UINT16_MAX

enum {
	MACHINE_BATCH = SWS_MACHINE_LIST_PAGES,
	/* pcp->batch of a large zone. */
	MACHINE_PCP_BATCH = 31,
	/* pcp->high: six batches. */
	MACHINE_PCP_HIGH = 186,
	/* Slots whose map bytes are in one cache line. */
	MACHINE_MAP_LINE = 64,
	/* Capacity of a device's queue in pages: nr_requests. */
	MACHINE_QUEUE = 128,
};

enum machine_list {
	/* Free, in a pagevec, or isolated by an actor. */
	LIST_NONE = 0,
	LIST_ACTIVE = 1,
	LIST_INACTIVE = 2,
};

/* struct page: a frame of memory. */
struct page {
	uint32_t previous;
	uint32_t next;
	/*
	 * The address; MACHINE_NONE for the page of a writer that never ends, and for a page
	 * without an owner.
	 */
	uint32_t pte;
	/* The slot of a page in the swap cache; else 0. */
	uint32_t slot;
	uint16_t node;
	/* The CPU whose task maps the page; MACHINE_NO_CPU if it is not mapped. */
	uint16_t owner;
	uint8_t list;
	bool used;
	/* In a pagevec: true if the page goes to the active list. */
	bool active;
	/* True if its page table entry is dirty. */
	bool written;
	bool referenced;
	/* PG_referenced: true if the previous scan found it referenced. */
	bool kept_once;
	bool dirty;
	/* True if an actor works on it. */
	bool locked;
	bool writeback;
	bool unmapped;
};

enum pte_state {
	/* The value is a slot. */
	PTE_SWAPPED = 0,
	/* The value is a page. */
	PTE_RESIDENT = 1,
	/* The value is a page under reclaim. */
	PTE_LEAVING = 2,
	/* Not written yet, or freed. */
	PTE_NONE = 3,
	/* Of a stream's page only: before it went out, and after it came in. */
	PTE_ABSENT = 4,
	/* Of a stream's page only: before it went out; the value is the actor that waits for it. */
	PTE_AWAITED = 5,
};

struct list {
	uint32_t first;
	uint32_t last;
	uint32_t count;
};

struct node {
	struct list lists[3];
	/* The free pages of the zone, as a stack. */
	uint32_t *free_pages;
	uint32_t n_free;
	/* The number of addresses of its walkers. */
	uint32_t n_ptes;
	bool has_writers;
	uint32_t device;
	/* The actor kswapd; MACHINE_NONE if only tasks reclaim. */
	uint32_t kswapd;
	uint32_t lru_lock;
	uint32_t zone_lock;
	/* The time until which its bandwidth is used. */
	uint64_t memory_free_at;
};

/* A page that an asynchronous device reads or writes. */
struct request {
	uint64_t done_at;
	uint32_t page;
	/* The actor that reads; MACHINE_NONE for a write. */
	uint32_t reader;
};

struct device {
	struct sws_slots *slots;
	struct sws_mappings *mappings;
	struct sws_slots_work work;
	/* The node of its memory and of its interrupt's CPU. */
	uint32_t node;
	uint32_t si_lock;
	/* The first cluster lock; MACHINE_NONE if si->lock protects the map. */
	uint32_t first_cluster_lock;
	uint32_t first_tree_lock;
	/* The lock of the memory cgroups' records. */
	uint32_t record_lock;
	/*
	 * The number of CPUs whose last slot is in each trunk, and of slots allocated in a trunk of
	 * another CPU.
	 */
	uint32_t *last_in_trunk;
	uint64_t shared_slots;
	/*
	 * The hold of si->lock in which each cache line of the map was used last, 0 if it was used
	 * outside of such a hold since; and the number of the current hold.
	 */
	uint32_t *line_holds;
	uint32_t hold;
	/*
	 * The actor of the interrupt; MACHINE_NONE for a synchronous device, which does not use the
	 * following.
	 */
	uint32_t interrupt;
	/* The time at which each channel is free. */
	uint64_t *channels;
	/* A ring buffer in order of completion. */
	struct request *requests;
	uint32_t first_request;
	uint32_t n_requests;
	/* Writes that are submitted and not yet rotated. */
	uint32_t n_writes;
};

/* Pages of a list that a reclaimer has isolated. */
struct batch {
	uint32_t pages[SWS_MACHINE_LIST_MAX];
	uint32_t n;
};

/*
 * A CPU with stale TLB entries, and the number of times that it had turned its interrupts on when
 * the interrupt was sent.
 */
struct stale {
	uint32_t cpu;
	uint64_t sent;
};

/* A page that waits for the batched removal of its list. */
struct aside_page {
	struct sws_removal_page removal;
	uint32_t index;
};

/* The state of a CPU with which it takes a lock only once for many pages or slots. */
struct cpu {
	/* Free pages, as a stack; those of a batch may be added before 31 go to the zone. */
	struct {
		uint32_t pages[MACHINE_PCP_HIGH + SWS_MACHINE_LIST_MAX + MACHINE_PCP_BATCH];
		uint32_t n;
	} free;
	/* The pagevec: new pages that are not on their list yet. */
	struct {
		uint32_t pages[MACHINE_PAGEVEC];
		uint32_t n;
	} added;
	/* The list that it reclaims: the isolated pages, and those that return to a list. */
	struct batch taken;
	struct batch kept;
	struct batch activated;
	/* The CPUs whose pages it has unmapped, each once. */
	struct {
		struct stale cpus[SWS_MACHINE_LIST_MAX];
		uint32_t n;
	} stale;
	/* The pages that wait for batched removal; unused page by page. */
	struct {
		struct sws_removal *removal;
		struct aside_page *pages;
		uint32_t n;
	} aside;
	/* The trunk of the slot allocated last; MACHINE_NONE before the first one. */
	uint32_t trunk;
};

/* A CPU as the devices see it: its number selects a scan base there, and its slot cache is here. */
struct slot_cpu {
	struct slots_cpu_cache cache;
	bool taken;
};

/* The event for which a sleeping actor waits. */
enum machine_sleep {
	SLEEP_TO_BE_WOKEN = 0,
	SLEEP_FOR_WRITEBACK = 1,
};

struct actor {
	struct engine_thread thread;
	struct sws_machine *machine;
	struct cpu *cpu;
	struct node *node;
	struct device *device;
	struct sws_machine_cpu count;
	/* The address space, MACHINE_NONE for a kernel thread; and its addresses. */
	uint32_t mm;
	uint32_t mm_first_pte;
	uint32_t mm_ptes;
	/* Pages that its procedures hold: on no list, in no pagevec and not free. */
	uint32_t in_hand;
	/*
	 * The slot CPU whose base and slots it uses, and the time from which it may move to another
	 * one.
	 */
	uint32_t slot_cpu;
	uint64_t stays_until;
};

/* The phases before the first event, in their order. */
enum machine_phase {
	/* Memory, all of it free. */
	PHASE_FRAMES = 0,
	/* Addresses without a page. */
	PHASE_PTES = 1,
	/* Walkers' pages in memory. */
	PHASE_PAGES = 2,
	/* Writers' pages in memory. */
	PHASE_WRITERS = 3,
	/* Allocation of slots. */
	PHASE_TAKE = 4,
	/* Slots are given to pages that are not in memory, or freed. */
	PHASE_KEEP = 5,
	/* With a limit and pages to drop: walkers write their pages. */
	PHASE_WRITE = 6,
	/* With a limit and pages to drop: walkers drop some pages. */
	PHASE_DROP = 7,
	PHASE_START = 8,
	PHASE_RUN = 9,
};

/* The progress of the fill. */
struct machine_fill {
	enum machine_phase phase;
	struct sws_generator generator;
	/* The next frame, node, slot or CPU. */
	uint32_t at;
	uint32_t device;
	uint32_t pte;
	/* Slots that are not processed yet, and how many of them are given to a page. */
	uint64_t left;
	uint64_t keep;
	/* Per node: walkers' pages without a place yet, and how many of them go to memory. */
	struct {
		uint64_t left;
		uint64_t keep;
	} nodes[SWS_MACHINE_NODES_MAX];
};

struct sws_machine {
	struct sws_allocator allocator;
	struct sws_machine_config config;
	const struct machine_rules *rules;
	struct engine engine;
	struct node *nodes;
	struct device *devices;
	/* One per CPU. */
	struct actor *actors;
	struct cpu *cpus;
	/* The slot CPUs of each node: those of its actors in their order, then the spare ones. */
	struct slot_cpu *slot_cpus;
	struct page *pages;
	uint32_t *pte_values;
	uint8_t *pte_states;
	uint32_t n_actors;
	uint32_t n_slot_cpus;
	uint32_t n_pages;
	/* The addresses: those of walkers, then those of writers that end, or of streams. */
	uint32_t n_ptes;
	uint32_t n_writer_ptes;
	uint64_t requests_done;
	/* Requests of the longest stream that has ended. */
	uint32_t longest_ended;
	/* Pages charged to the memory cgroup. */
	uint32_t charged;
	/* The watermarks of a node, in free pages. */
	uint32_t watermark_min;
	uint32_t watermark_low;
	uint32_t watermark_high;
	/* The number of active pages per inactive page. */
	uint32_t inactive_ratio;
	uint32_t avail_lock;
	/* The locks of the CPUs' slot caches. */
	uint32_t first_mutex;
	uint32_t first_return_lock;
	bool caches_slots;
	bool keeps_tags;
	bool stuck;
	enum sws_machine_life life;
	uint64_t events;
	/*
	 * Slots and bases tested, including the fill: the real time that they take is not visible
	 * in events.
	 */
	uint64_t looks;
	struct machine_fill fill;
};

static inline uint64_t machine_now(const struct sws_machine *self)
{
	return engine_now(&self->engine);
}

static inline struct slots_cpu_cache *machine_slots_of(const struct actor *actor)
{
	return &actor->machine->slot_cpus[actor->slot_cpu].cache;
}

/*
 * Returns the CPUs of a node: tasks, a kswapd unless a limit keeps it asleep, and a CPU for the
 * interrupts of an asynchronous device.
 */
uint32_t sws_machine__cpus_per_node(const struct sws_machine_config *config);

/*
 * Return the maximum number of frames of its node, and of slots of its device, that a CPU may hold.
 */
uint32_t sws_machine__frames_kept(const struct sws_machine_config *config);
uint32_t sws_machine__slots_kept(const struct sws_machine_config *config);

/* Returns the number of walkers, writers or streams. */
uint32_t sws_machine__tasks(const struct sws_machine_config *config);

/* Returns the actor of a task. */
struct actor *sws_machine__task(struct sws_machine *self, uint32_t task);

/* Returns the number of addresses of walkers, and of writers that end or of streams. */
uint32_t sws_machine__all_ptes(const struct sws_machine *self);

/* Returns the node of an address. */
uint32_t sws_machine__node_of_pte(const struct sws_machine *self, uint32_t pte);

/* Returns the number of walkers' pages that a node's memory holds at the start. */
uint32_t sws_machine__resident(const struct sws_machine *self, const struct node *node);

/* Returns the number of slots of a device that its walkers' pages use at the start. */
uint64_t sws_machine__swapped(const struct sws_machine *self, uint32_t device);

/* Returns the lock of a slot's map byte: its cluster's, or si->lock in 4.8. */
uint32_t sws_machine__map_lock(const struct sws_machine *self, const struct device *device,
			       uint32_t slot);

/* Returns true if there are enough inactive pages for the active ones. */
bool sws_machine__is_balanced(const struct sws_machine *self, const struct node *node);

/* Adds the slots and bases that a device tested between two states of its work. */
void sws_machine__count_looks(struct sws_machine *self, const struct sws_slots_work *before,
			      const struct sws_slots_work *after);

#endif
