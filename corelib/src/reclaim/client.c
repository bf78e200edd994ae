/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/client.c - memcached and the one client that asks it. An operation draws an item, then
 * whether it is a set, and touches the item's pages in their order, reading or writing.
 *
 * All operations that begin before any other actor's next event are one event, up to VM_BATCH:
 *
 *      client   | op op op op op op |           at the first event: six operations' touches
 *      kswapd   ....................| shrinks    its event is met by nobody meanwhile
 *
 * A touch that misses ends the row: time passes up to it, then the fault begins.
 */
#include "reclaim/disk.h"
#include "reclaim/pages.h"
#include "reclaim/report.h"
#include "reclaim/tasks.h"

enum step { BEGIN, SERVE, FAULT, PHASE_OVER, DROP, NEXT_ROUND };

struct serving {
	/* When serving ends; 0: it has not begun. */
	uint64_t until;
	/* The operation in hand, begun or to be drawn; its page that comes next. */
	uint32_t item;
	uint32_t page;
	bool begun;
	bool writes;
	/* What is dropped next. */
	uint32_t dropped;
};

static void draw(struct actor *actor, struct serving *my)
{
	const struct sws_reclaim_config *config = &actor->vm->config;
	struct sws_generator *generator = &actor->thread.generator;

	my->begun = true;
	my->page = 0;
	if (!my->until) {
		my->writes = true;
		return;
	}
	my->item = (uint32_t)sws_generator_below(generator, config->items);
	my->writes = sws_generator_below(generator, 100) < config->set_percent;
}

/* Touches pages of the item until one is missed; true if all are there. */
static bool touch(struct sws_reclaim *vm, struct serving *my)
{
	const uint32_t needed = VM_PTE_PRESENT | (my->writes ? VM_PTE_WRITABLE : 0);
	uint32_t *entry = &vm->ptes[my->item * vm->config.item_pages];

	for (; my->page < vm->config.item_pages; my->page++) {
		if ((entry[my->page] & needed) != needed)
			return false;
		entry[my->page] |= VM_PTE_YOUNG;
	}
	return true;
}

static bool is_done(const struct sws_reclaim *vm, const struct serving *my, uint64_t at)
{
	return my->until ? at >= my->until : my->item == vm->config.items;
}

/* Operations until another actor's event, a miss, or the end. */
static int serve(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *vm = actor->vm;
	uint64_t horizon = UINT64_MAX;
	uint64_t at = vm_now(vm);
	uint32_t n = 0;

	sws_des_peek(vm->engine.des, &horizon);
	engine_go(&actor->thread, SERVE);
	do {
		if (!my->begun && is_done(vm, my, at)) {
			engine_go(&actor->thread, PHASE_OVER);
			break;
		}
		if (!my->begun)
			draw(actor, my);
		if (!touch(vm, my)) {
			engine_go(&actor->thread, FAULT);
			break;
		}
		my->begun = false;
		if (my->until)
			vm->counts.ops++;
		else
			my->item++;
		at += vm->config.costs.op_ns;
		vm->work += vm->config.item_pages;
	} while (at < horizon && ++n < VM_BATCH);
	return engine_run(&actor->thread, at - vm_now(vm));
}

static int begin_writing(struct sws_reclaim *vm)
{
	vm->writes_file = vm->file.pages > 0;
	return vm->writes_file ? sws_reclaim__call(vm, VM_WRITER) : SWS_OK;
}

static int begin_round(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *vm = actor->vm;
	struct sws_reclaim_round *round = &vm->rounds[vm->round];

	*my = (struct serving){ 0 };
	vm->file.pages = vm->file_pages[vm->round];
	vm->file.cursor = 0;
	round->begin_ns = vm_now(vm);
	sws_reclaim__count_round(vm, round);
	return SWS_OK;
}

/* The pool is full: serving begins, and with it the writer. Serving is over: the writer may not be. */
static int end_phase(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *vm = actor->vm;

	if (!my->until) {
		my->until = vm_now(vm) + vm->config.serve_ns;
		vm->rounds[vm->round].serve_ns = vm_now(vm);
		engine_go(&actor->thread, SERVE);
		return begin_writing(vm);
	}
	if (!vm->writes_file)
		return SWS_OK;
	engine_go(&actor->thread, PHASE_OVER);
	return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
}

/* The file's pages first, then the pool's, some at a time. */
static int drop(struct actor *actor, struct serving *my)
{
	struct sws_reclaim *vm = actor->vm;
	const uint32_t all = vm->file.pages + vm->n_ptes;
	uint32_t n = 0;

	for (; n < VM_BATCH && my->dropped < all; n++, my->dropped++)
		if (my->dropped < vm->file.pages)
			sws_reclaim__drop_file_page(vm, my->dropped);
		else
			sws_reclaim__drop_entry(vm, my->dropped - vm->file.pages);
	vm->work += n;
	if (my->dropped < all)
		engine_go(&actor->thread, DROP);
	return engine_run(&actor->thread, n * vm->config.costs.drop_ns);
}

static int end_round(struct actor *actor)
{
	struct sws_reclaim *vm = actor->vm;
	struct sws_reclaim_round *round = &vm->rounds[vm->round];

	round->end_ns = vm_now(vm);
	sws_reclaim__count_round(vm, round);
	vm->file.pages = 0;
	if (++vm->round < vm->config.rounds) {
		engine_go(&actor->thread, BEGIN);
		return SWS_OK;
	}
	vm->over = true;
	return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
}

static int live(struct actor *actor, void *frame, uint32_t step)
{
	struct serving *my = frame;

	switch ((enum step)step) {
	case BEGIN:
		return begin_round(actor, my);
	case SERVE:
		return serve(actor, my);
	case FAULT:
		engine_go(&actor->thread, SERVE);
		return sws_reclaim__fault(actor, my->item * actor->vm->config.item_pages + my->page,
					  my->writes);
	case PHASE_OVER:
		return end_phase(actor, my);
	case DROP:
		return drop(actor, my);
	case NEXT_ROUND:
		return end_round(actor);
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__client(struct actor *actor)
{
	const struct serving frame = { 0 };

	return engine_call(&actor->thread, live, &frame, sizeof(frame));
}
