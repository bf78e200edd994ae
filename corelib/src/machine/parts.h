/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/parts.h - what the sources of machine.h share: pages, nodes, devices,
 * actors, and the few things that a step of a procedure can do.
 *
 *      actor->stack   writer > swap_in > alloc_page > shrink > swap_out > locked
 *
 * The procedure on top is called with the number of its step until one of its
 * steps made an event. It goes on one step further unless machine_go says where.
 */
#ifndef SWAPSIM_MACHINE_PARTS_H
#define SWAPSIM_MACHINE_PARTS_H

#include "swapsim/machine.h"

#define MACHINE_NONE UINT32_MAX

enum {
	MACHINE_BATCH = 32,      /* SWAP_CLUSTER_MAX */
	MACHINE_PAGEVEC = 15,    /* PAGEVEC_SIZE, 14 up to 4.15 */
	MACHINE_PCP_BATCH = 31,  /* pcp->batch of a large zone */
	MACHINE_PCP_HIGH = 186,  /* pcp->high: six batches */
	MACHINE_STACK = 16,
	MACHINE_START_NS = 20000, /* actors begin within this time */
	MACHINE_QUEUE = 128, /* pages that a device's queue takes: nr_requests */
	MACHINE_DRAWS = 64, /* pages that a walker looks at in one go */
	MACHINE_PART = 256, /* pages or slots of one event of the fill */
	MACHINE_INACTIVE_RATIO = 3, /* active pages an inactive one: inactive_ratio of 1 GB */
};

/* Per kernel: what differs in the same procedures. */
struct machine_rules {
	enum sws_kernel kernel;
	enum sws_kernel mapping; /* whose row of mapping.h: one that is the same there */
	bool keeps_tags; /* does the swap cache, as released? */
	unsigned int avail_locks; /* swap_avail_lock per call of get_swap_pages */
	bool cluster_locks;
	bool slot_cache;
	bool charge_lock; /* mem_cgroup_commit_charge takes lru_lock for a page swapped in */
	bool skips_cache; /* a synchronous device's page does not pass the swap cache */
	bool starts_active; /* new pages begin on the active list */
	bool shadows;
	bool prepares; /* a page that skips the cache holds its place there */
	bool keeps_first; /* a page is activated when two looks find it referenced, not one */
	bool reuses_exclusive; /* a write to a page of one task leaves it its slot */
	bool looks_at_counts; /* before a page is read, and before one leaves the cache */
	uint32_t pagevec;
};

enum machine_list {
	LIST_NONE = 0, /* free, in a pagevec, or with an actor */
	LIST_ACTIVE = 1,
	LIST_INACTIVE = 2,
};

/* struct page: a frame of memory. */
struct page {
	uint32_t previous;
	uint32_t next;
	uint32_t pte; /* MACHINE_NONE: of a writer that never ends */
	uint32_t slot; /* in the swap cache: which; else 0 */
	uint16_t node;
	uint8_t list;
	bool used;
	bool referenced;
	bool kept_once; /* it was referenced at the look before: PG_referenced */
	bool dirty;
	bool locked; /* an actor works on it */
	bool writeback;
	bool unmapped;
};

enum pte_state {
	PTE_SWAPPED = 0, /* value: slot */
	PTE_RESIDENT = 1, /* value: page */
	PTE_LEAVING = 2, /* value: page, under reclaim */
	PTE_NONE = 3, /* not written yet, or given back */
	/* and of a stream's page only */
	PTE_ABSENT = 4, /* before it went out, and after it came in */
	PTE_AWAITED = 5, /* before it went out; value: the actor that waits for it */
};

/* What comes before the first event. */
enum machine_phase {
	PHASE_FRAMES = 0, /* memory, all of it free */
	PHASE_PTES = 1, /* addresses without a page */
	PHASE_PAGES = 2, /* walkers' pages into memory, */
	PHASE_WRITERS = 3, /* writers' behind them */
	PHASE_TAKE = 4, /* slots are taken */
	PHASE_KEEP = 5, /* and given to pages that are not in memory, or freed */
	PHASE_WRITE = 6, /* or walkers write their pages one after another */
	PHASE_DROP = 7, /* and drop some */
	PHASE_START = 8,
	PHASE_RUN = 9,
};

struct list {
	uint32_t first;
	uint32_t last;
	uint32_t count;
};

struct node {
	struct list lists[3];
	uint32_t *free_pages; /* the zone's, the last one first */
	uint32_t n_free;
	uint32_t n_ptes; /* of its walkers */
	bool has_writers;
	uint32_t device;
	uint32_t kswapd; /* actor, MACHINE_NONE: nobody but the tasks */
	uint32_t lru_lock;
	uint32_t zone_lock;
	uint64_t memory_free_at; /* its bandwidth is taken until then */
	uint64_t fill_left; /* walkers' pages that no place was chosen for yet */
	uint64_t fill_keep; /* and of those, how many go to memory */
};

/* A page that an asynchronous device moves. */
struct request {
	uint64_t done_at;
	uint32_t page;
	uint32_t reader; /* actor, MACHINE_NONE: a write */
};

struct device {
	struct sws_slots *slots;
	struct sws_mappings *mappings;
	struct sws_slots_work work;
	uint64_t *channels; /* when each is free */
	struct request *requests; /* a ring, in order of completion */
	uint32_t n_requests;
	uint32_t n_writes; /* submitted, not yet rotated */
	uint32_t first_request;
	uint32_t node; /* whose memory it takes, and whose CPU its interrupts */
	uint32_t interrupt; /* actor, MACHINE_NONE: synchronous */
	uint32_t si_lock;
	uint32_t first_cluster_lock;
	uint32_t first_tree_lock;
	uint32_t *last_in_trunk; /* CPUs whose last slot lies in each trunk */
	uint64_t shared_slots;
};

struct actor;

typedef int machine_procedure(struct sws_machine *self, struct actor *actor, uint32_t step);
typedef int machine_action(struct sws_machine *self, struct actor *actor, uint64_t *ns);

struct activation {
	machine_procedure *procedure;
	uint32_t step;
	uint32_t lock; /* of a section: what it holds, where, and what it does */
	enum sws_machine_site site;
	machine_action *action;
};

struct actor {
	struct sws_machine_cpu count;
	struct sws_generator generator;
	uint32_t cpu;
	uint32_t mm; /* MACHINE_NONE: a kernel thread */
	uint32_t mm_first_pte;
	uint32_t mm_ptes;
	struct device *device;
	struct node *node;
	uint32_t depth;
	struct activation stack[MACHINE_STACK];
	bool waits; /* a step made an event, or went to sleep */
	bool asleep; /* no event until another makes one */
	bool throttled; /* asleep until a writeback ends */
	bool gave_up;
	uint32_t first; /* of a stream: its first request, */
	uint32_t row; /* the next one, */
	uint32_t end; /* and where they end */
	uint64_t slept_ns; /* of what des.h counts as run: waits for the device */
	/* a fault */
	uint32_t pte;
	bool write;
	uint32_t fresh; /* page */
	bool holds_fresh; /* it is on no list and in no pagevec yet */
	/* reclaim */
	uint32_t batch[MACHINE_BATCH];
	uint32_t n_batch;
	uint32_t at;
	uint32_t page;
	uint32_t slot;
	bool gone; /* may the page of swap_out be freed? */
	bool progress;
	uint32_t kept[MACHINE_BATCH];
	uint32_t n_kept;
	uint32_t activated[MACHINE_BATCH];
	uint32_t n_activated;
	uint32_t evicted; /* a page that leaves the swap cache and stays */
	uint32_t put; /* a slot that is due to be freed */
	/* what a CPU keeps */
	uint32_t pcp[MACHINE_PCP_HIGH + MACHINE_BATCH + MACHINE_PCP_BATCH];
	uint32_t n_pcp;
	uint32_t pagevec[MACHINE_PAGEVEC];
	uint32_t n_pagevec;
	struct sws_slots_call call; /* the last one; its slots from taken on are the slot cache */
	uint32_t taken;
	uint32_t listed; /* slots of the call whose cluster lock was taken */
	uint32_t searches; /* of this CPU's cluster whose lock was not taken yet */
	uint32_t checks; /* likewise, of slots that a scan found and did not get */
	uint32_t wanted;
	bool si_lock_was_had; /* in this call */
	uint32_t trunk; /* of the last slot that it was handed out, MACHINE_NONE: none yet */
	uint32_t returned[SWS_SLOT_CACHE_SIZE];
	uint32_t n_returned;
	uint32_t flushed; /* of the returned ones, in a flush */
};

struct sws_machine {
	struct sws_allocator allocator;
	struct sws_machine_config config;
	const struct machine_rules *rules;
	struct sws_des *des;
	struct node *nodes;
	struct device *devices;
	struct actor *actors; /* one a CPU */
	struct page *pages;
	uint32_t *pte_values;
	uint8_t *pte_states;
	uint32_t n_actors;
	uint32_t n_pages;
	uint32_t
		n_ptes; /* of the walkers; those of writers that end, or of streams, are behind them */
	uint32_t n_writer_ptes;
	uint64_t requests_done;
	uint32_t longest_ended; /* requests of a stream */
	uint32_t charged; /* pages of the memory cgroup */
	uint32_t watermark_min; /* free pages of a node */
	uint32_t watermark_low;
	uint32_t watermark_high;
	uint32_t avail_lock;
	uint32_t first_mutex; /* a CPU's slot cache */
	uint32_t first_return_lock;
	bool caches_slots;
	bool keeps_tags;
	bool stuck;
	uint64_t events;
	uint64_t looks; /* at slots and bases, the fill's included */
	enum machine_phase phase; /* how far memory and devices are filled */
	uint32_t fill_at; /* the next frame, node, slot or CPU */
	uint32_t fill_device;
	uint32_t fill_pte;
	uint64_t fill_left; /* pages or slots still to be looked at */
	uint64_t fill_keep; /* and of those, how many are taken */
	struct sws_generator fill_generator;
};

/* The actor runs for ns; 0 makes no event. */
static inline int machine_run(struct sws_machine *self, struct actor *actor, uint64_t ns)
{
	if (!ns)
		return SWS_OK;
	actor->waits = true;
	return sws_des_run(self->des, actor->cpu, ns);
}

/* The same for work that is not always as long: uniform about ns. */
static inline int machine_work(struct sws_machine *self, struct actor *actor, uint64_t ns)
{
	const uint64_t spread = ns * self->config.spread_percent / 100;

	return machine_run(self, actor,
			   ns - spread + sws_generator_below(&actor->generator, 2 * spread + 1));
}

static inline void machine_sleep(struct actor *actor)
{
	actor->waits = true;
	actor->asleep = true;
}

static inline int machine_wake(struct sws_machine *self, struct actor *actor)
{
	if (!actor->asleep)
		return SWS_OK;
	actor->asleep = false;
	actor->throttled = false;
	return sws_des_run(self->des, actor->cpu, 0);
}

static inline void machine_go(struct actor *actor, uint32_t step)
{
	actor->stack[actor->depth - 1].step = step;
}

static inline void machine_leave(struct actor *actor)
{
	actor->depth--;
}

static inline int machine_call(struct actor *actor, machine_procedure *procedure)
{
	if (actor->depth == MACHINE_STACK)
		return SWS_ERROR_BROKEN;
	actor->stack[actor->depth++] = (struct activation){ .procedure = procedure };
	return SWS_OK;
}

int sws_machine__lock(struct sws_machine *self, struct actor *actor, uint32_t lock,
		      enum sws_machine_site site);

/* Takes a lock, does the action, holds the lock for the time that it says, gives it back. */
int sws_machine__under(struct actor *actor, uint32_t lock, enum sws_machine_site site,
		       machine_action *action);

static inline int machine_unlock(struct sws_machine *self, struct actor *actor, uint32_t lock)
{
	return sws_des_unlock(self->des, actor->cpu, lock);
}

static inline uint64_t machine_now(const struct sws_machine *self)
{
	return sws_des_now(self->des);
}

/* Pages and lists: machine/memory.c */
void sws_machine__list_add(struct sws_machine *self, struct node *node, enum machine_list list,
			   uint32_t page);
void sws_machine__list_add_tail(struct sws_machine *self, struct node *node, enum machine_list list,
				uint32_t page);
void sws_machine__list_take(struct sws_machine *self, uint32_t page);
machine_procedure sws_machine__alloc_page;
machine_procedure sws_machine__lru_add;
machine_procedure sws_machine__lru_add_drain;
machine_procedure sws_machine__drain_pcp;

/* The page is nobody's any more. */
void sws_machine__forget_page(struct sws_machine *self, uint32_t page);

/* The node's memory moves a page: how long a CPU is busy that needs cpu_ns for it alone. */
uint64_t sws_machine__transfer(struct sws_machine *self, struct node *node, uint64_t cpu_ns);

/* Slots: machine/slots.c */
void sws_machine__count_looks(struct sws_machine *self, const struct sws_slots_work *before,
			      const struct sws_slots_work *after);
uint32_t sws_machine__map_lock(const struct sws_machine *self, const struct device *device,
			       uint32_t slot);
machine_procedure sws_machine__get_slot;
machine_procedure sws_machine__put_slot;

/* The swap cache: machine/cache.c. All but evict work on actor->page. */
int sws_machine__under_tree(struct sws_machine *self, struct actor *actor, uint32_t slot,
			    enum sws_machine_site site, machine_action *action);
machine_action sws_machine__tree_add;
machine_action sws_machine__tree_start;
machine_action sws_machine__tree_end;
machine_action sws_machine__tree_remove;
machine_action sws_machine__tree_shadow; /* of the slot in a flush */
machine_action sws_machine__duplicate;
machine_action sws_machine__count;
machine_action sws_machine__uncache;
machine_action sws_machine__clear;
machine_action sws_machine__prepare;
machine_action sws_machine__swap_free;
/* actor->evicted leaves the swap cache and stays in memory; its slot is freed. */
machine_procedure sws_machine__evict;
bool sws_machine__may_evict(const struct sws_machine *self, uint32_t page);

/* Reclaim: machine/reclaim.c */
machine_procedure sws_machine__shrink;
/* actor->page leaves memory; actor->gone says whether it did. */
machine_procedure sws_machine__swap_out;
/* The page actor->page, which has left, is this CPU's to use. */
void sws_machine__free_page(struct sws_machine *self, struct actor *actor);

/* Devices: machine/device.c */
int sws_machine__submit(struct sws_machine *self, struct device *device, uint32_t page,
			uint32_t reader);
machine_procedure sws_machine__interrupt;

/* What actors do: machine/task.c */
machine_procedure sws_machine__writer;
machine_procedure sws_machine__exit; /* machine/exit.c: a task gives back what it has */
machine_procedure sws_machine__walker;
machine_procedure sws_machine__kswapd;
machine_procedure sws_machine__swap_in; /* of actor->pte; actor->write: the page is written to */

/* Streams: machine/stream.c and, what must hold of their requests, machine/requests.c */
machine_procedure sws_machine__stream;
void sws_machine__deal_requests(struct sws_machine *self);
/* Pages of memory that the streams of a node hold at most, beside those that CPUs keep. */
uint64_t sws_machine__stream_pages(const struct sws_machine *self, uint32_t node);

/* Building it: machine/build.c. Fills in what the config says; on an error the caller frees. */
struct actor *sws_machine__task(struct sws_machine *self, uint32_t task);
bool sws_machine__config_fits(const struct sws_machine_config *config);
int sws_machine__assemble(struct sws_machine *self);

/* Filling memory and devices: machine/fill.c. A little of it; moves self->phase on. */
int sws_machine__fill(struct sws_machine *self);

/* The page of an address, or of a writer, into memory. */
void sws_machine__put_into_memory(struct sws_machine *self, struct node *node, uint32_t pte,
				  enum machine_list list);

/* The same for walkers that dropped pages: machine/drop.c. */
int sws_machine__fill_and_drop(struct sws_machine *self);

/* How many addresses there are: walkers', and of writers that end or of streams. */
uint32_t sws_machine__all_ptes(const struct sws_machine *self);

/* Which node a page's address belongs to. */
uint32_t sws_machine__node_of_pte(const struct sws_machine *self, uint32_t pte);

/* Slots of a device that the pages of its walkers take. */
uint64_t sws_machine__swapped(const struct sws_machine *self, uint32_t device);

#endif
