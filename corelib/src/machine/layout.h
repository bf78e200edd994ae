/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/layout.h - what the machine is made of: pages of memory in nodes, slots on
 * devices, addresses that are in the one or the other, CPUs, and actors on them.
 *
 *      addresses    | walkers' ..., pages of each | writers' that end, or streams' |
 *                     state, value = page or slot
 *      pages        | node 0: frames of it | node 1 ... |
 *      tasks        dealt to the nodes in turn, walkers first
 *      CPUs         | node 0: tasks, kswapd, interrupt | node 1 ... |      cpus_per_node
 *      locks        a CPU's two slot caches, a node's lru_lock and zone->lock,
 *                   a device's si->lock, its clusters', its trees'
 *
 * An actor has its CPU for itself, so it has the CPU's number. Who follows which
 * procedure is the engine's business, and what a procedure remembers lies in its frame.
 */
#ifndef SWAPSIM_MACHINE_LAYOUT_H
#define SWAPSIM_MACHINE_LAYOUT_H

#include "engine/engine.h"
#include "machine/rules.h"
#include "slots/cpu_cache.h"
#include "swapsim/machine.h"

#define MACHINE_NONE   UINT32_MAX
#define MACHINE_NOBODY UINT16_MAX

enum {
	MACHINE_BATCH = SWS_MACHINE_LIST_PAGES,
	MACHINE_PCP_BATCH = 31, /* pcp->batch of a large zone */
	MACHINE_PCP_HIGH = 186, /* pcp->high: six batches */
	MACHINE_QUEUE = 128,    /* pages that a device's queue takes: nr_requests */
};

enum machine_list {
	LIST_NONE = 0, /* free, in a pagevec, or in an actor's hands */
	LIST_ACTIVE = 1,
	LIST_INACTIVE = 2,
};

/* struct page: a frame of memory. */
struct page {
	uint32_t previous;
	uint32_t next;
	/* MACHINE_NONE: of a writer that never ends, or nobody's. */
	uint32_t pte;
	/* In the swap cache: which; else 0. */
	uint32_t slot;
	uint16_t node;
	/* The CPU whose task has it mapped, MACHINE_NOBODY: none has. */
	uint16_t owner;
	uint8_t list;
	bool used;
	/* In a pagevec: it goes to the active list. */
	bool active;
	/* Its page table entry is dirty. */
	bool written;
	bool referenced;
	/* It was referenced at the look before: PG_referenced. */
	bool kept_once;
	bool dirty;
	/* An actor works on it. */
	bool locked;
	bool writeback;
	bool unmapped;
};

enum pte_state {
	PTE_SWAPPED = 0,  /* value: slot */
	PTE_RESIDENT = 1, /* value: page */
	PTE_LEAVING = 2,  /* value: page, under reclaim */
	PTE_NONE = 3,     /* not written yet, or given back */
	/* and of a stream's page only */
	PTE_ABSENT = 4,  /* before it went out, and after it came in */
	PTE_AWAITED = 5, /* before it went out; value: the actor that waits for it */
};

struct list {
	uint32_t first;
	uint32_t last;
	uint32_t count;
};

struct node {
	struct list lists[3];
	/* The zone's, the last one first. */
	uint32_t *free_pages;
	uint32_t n_free;
	/* Of its walkers. */
	uint32_t n_ptes;
	bool has_writers;
	uint32_t device;
	/* Actor; MACHINE_NONE: nobody reclaims but the tasks. */
	uint32_t kswapd;
	uint32_t lru_lock;
	uint32_t zone_lock;
	/* Its bandwidth is taken until then. */
	uint64_t memory_free_at;
};

/* A page that an asynchronous device moves. */
struct request {
	uint64_t done_at;
	uint32_t page;
	/* Actor, MACHINE_NONE: a write. */
	uint32_t reader;
};

struct device {
	struct sws_slots *slots;
	struct sws_mappings *mappings;
	struct sws_slots_work work;
	/* Whose memory it takes, and whose CPU its interrupts. */
	uint32_t node;
	uint32_t si_lock;
	/* MACHINE_NONE: si->lock guards the map. */
	uint32_t first_cluster_lock;
	uint32_t first_tree_lock;
	/* Of the memory cgroups' records. */
	uint32_t record_lock;
	/* CPUs whose last slot lies in each trunk, and slots handed out in a trunk of another CPU. */
	uint32_t *last_in_trunk;
	uint64_t shared_slots;
	/* Actor; MACHINE_NONE: a synchronous device, without what follows. */
	uint32_t interrupt;
	/* When each is free. */
	uint64_t *channels;
	/* A ring, in order of completion. */
	struct request *requests;
	uint32_t first_request;
	uint32_t n_requests;
	/* Submitted, not yet rotated. */
	uint32_t n_writes;
};

/* Pages of a list in its reclaimer's hands. */
struct batch {
	uint32_t pages[SWS_MACHINE_LIST_MAX];
	uint32_t n;
};

/* A CPU that has to forget where a page was, and how often it had its interrupts on when told so. */
struct stale {
	uint32_t cpu;
	uint64_t sent;
};

/* A page that waits for the removal of its list. */
struct aside_page {
	struct sws_removal_page removal;
	uint32_t index;
};

/* What a CPU keeps for itself, so that it takes a lock only once for many pages or slots. */
struct cpu {
	/* Free pages, the last one first; those of a batch may come before 31 go to the zone. */
	struct {
		uint32_t pages[MACHINE_PCP_HIGH + SWS_MACHINE_LIST_MAX + MACHINE_PCP_BATCH];
		uint32_t n;
	} free;
	/* New pages that are not on their list yet. */
	struct {
		uint32_t pages[MACHINE_PAGEVEC];
		uint32_t n;
	} added;
	/* The list that it reclaims: what it took, and what of that goes back where. */
	struct batch taken;
	struct batch kept;
	struct batch activated;
	/* Those whose pages it has unmapped, each once. */
	struct {
		struct stale cpus[SWS_MACHINE_LIST_MAX];
		uint32_t n;
	} stale;
	/* What of it waits to be removed together; none page by page. */
	struct {
		struct sws_removal *removal;
		struct aside_page *pages;
		uint32_t n;
	} aside;
	/* Of the last slot that it was handed out, MACHINE_NONE: none yet. */
	uint32_t trunk;
};

/* A CPU as the devices see it: it has a base of the scan there, and here its slots. */
struct slot_cpu {
	struct slots_cpu_cache cache;
	bool taken;
};

/* What a sleeping actor waits for. */
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
	/* Its address space, MACHINE_NONE: a kernel thread; and the addresses of it. */
	uint32_t mm;
	uint32_t mm_first_pte;
	uint32_t mm_ptes;
	/* Pages that its procedures have taken: on no list, in no pagevec and not free. */
	uint32_t in_hand;
	/* Whose base and slots it uses, and from when on it may use another's. */
	uint32_t slot_cpu;
	uint64_t stays_until;
};

/* What comes before the first event, in this order. */
enum machine_phase {
	PHASE_FRAMES = 0,  /* memory, all of it free */
	PHASE_PTES = 1,    /* addresses without a page */
	PHASE_PAGES = 2,   /* walkers' pages into memory, */
	PHASE_WRITERS = 3, /* writers' behind them */
	PHASE_TAKE = 4,    /* slots are taken */
	PHASE_KEEP = 5,    /* and given to pages that are not in memory, or freed */
	PHASE_WRITE = 6,   /* or, with a limit and pages to drop: walkers write their pages */
	PHASE_DROP = 7,    /* and drop some */
	PHASE_START = 8,
	PHASE_RUN = 9,
};

/* How far memory and devices are filled. */
struct machine_fill {
	enum machine_phase phase;
	struct sws_generator generator;
	/* The next frame, node, slot or CPU. */
	uint32_t at;
	uint32_t device;
	uint32_t pte;
	/* Slots still to be looked at, and of those, how many are taken. */
	uint64_t left;
	uint64_t keep;
	/* Of each node: walkers' pages that no place was chosen for yet, and those that go to memory. */
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
	/* One a CPU, both of them. */
	struct actor *actors;
	struct cpu *cpus;
	/* Those of a node: its actors', in their order, then the spare ones. */
	struct slot_cpu *slot_cpus;
	struct page *pages;
	uint32_t *pte_values;
	uint8_t *pte_states;
	uint32_t n_actors;
	uint32_t n_slot_cpus;
	uint32_t n_pages;
	/* Walkers' addresses; behind them those of writers that end, or of streams. */
	uint32_t n_ptes;
	uint32_t n_writer_ptes;
	uint64_t requests_done;
	/* Requests of the longest stream that has ended. */
	uint32_t longest_ended;
	/* Pages of the memory cgroup. */
	uint32_t charged;
	/* Free pages of a node. */
	uint32_t watermark_min;
	uint32_t watermark_low;
	uint32_t watermark_high;
	/* Active pages that an inactive one is enough for. */
	uint32_t inactive_ratio;
	uint32_t avail_lock;
	/* A CPU's slot caches. */
	uint32_t first_mutex;
	uint32_t first_return_lock;
	bool caches_slots;
	bool keeps_tags;
	bool stuck;
	uint64_t events;
	/* At slots and bases, the fill's included: they take time that no event tells. */
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

/* Tasks, a kswapd unless a limit keeps it asleep, and a CPU for an asynchronous device's interrupts. */
uint32_t sws_machine__cpus_per_node(const struct sws_machine_config *config);

/* What a CPU may keep from its node's lists, and of its device's slots. */
uint32_t sws_machine__frames_kept(const struct sws_machine_config *config);
uint32_t sws_machine__slots_kept(const struct sws_machine_config *config);

/* Walkers, writers or streams. */
uint32_t sws_machine__tasks(const struct sws_machine_config *config);

/* Who is a task. */
struct actor *sws_machine__task(struct sws_machine *self, uint32_t task);

/* How many addresses there are: walkers', and of writers that end or of streams. */
uint32_t sws_machine__all_ptes(const struct sws_machine *self);

/* Which node an address belongs to. */
uint32_t sws_machine__node_of_pte(const struct sws_machine *self, uint32_t pte);

/* Walkers' pages that a node's memory holds at the start. */
uint32_t sws_machine__resident(const struct sws_machine *self, const struct node *node);

/* Slots of a device that the pages of its walkers take at the start. */
uint64_t sws_machine__swapped(const struct sws_machine *self, uint32_t device);

/* The lock of a slot's map byte: its cluster's, or si->lock in 4.8. */
uint32_t sws_machine__map_lock(const struct sws_machine *self, const struct device *device,
			       uint32_t slot);

/* Are there inactive pages enough for the active ones? */
bool sws_machine__is_balanced(const struct sws_machine *self, const struct node *node);

/* Adds what a device looked at between two states of its work. */
void sws_machine__count_looks(struct sws_machine *self, const struct sws_slots_work *before,
			      const struct sws_slots_work *after);

#endif
