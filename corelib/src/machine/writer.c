/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/writer.c - new pages, one after another; after a number of accesses the writer exits. */
#include "machine/pages.h"
#include "machine/reclaim.h"
#include "machine/tasks.h"

struct writer {
	uint32_t page;
};

enum step { FAULT, ALLOCATE, WRITE, LRU_ADD };

static int fault(struct actor *actor)
{
	struct sws_machine *self = actor->machine;

	if (self->config.accesses && actor->count.touched == self->config.accesses) {
		actor->count.written_ns = machine_now(self);
		self->life = SWS_LIFE_EXIT;
		engine_leave(&actor->thread);
		return sws_machine__exit(actor);
	}
	return engine_work(&actor->thread, self->config.costs.fault_ns);
}

static int write_page(struct actor *actor, struct writer *my)
{
	struct sws_machine *self = actor->machine;
	const uint32_t pte = actor->mm_first_pte + (uint32_t)actor->count.touched;
	struct page *page = NULL;

	my->page = actor->thread.result;
	page = &self->pages[my->page];
	page->dirty = true;
	page->owner = (uint16_t)actor->thread.cpu;
	page->written = true;
	page->referenced = true;
	page->active = self->rules->starts_active;
	/* The page has an address if the task will free it. */
	if (self->config.accesses) {
		page->pte = pte;
		self->pte_states[pte] = PTE_RESIDENT;
		self->pte_values[pte] = my->page;
	}
	return engine_run(&actor->thread,
			  sws_machine__transfer(self, actor->node, self->config.costs.touch_ns));
}

static int writer(struct actor *actor, void *frame, uint32_t step)
{
	struct writer *my = frame;

	switch ((enum step)step) {
	case FAULT:
		return fault(actor);
	case ALLOCATE:
		return sws_machine__alloc_page(actor);
	case WRITE:
		return write_page(actor, my);
	case LRU_ADD:
		actor->count.touched++;
		engine_go(&actor->thread, FAULT);
		return sws_machine__lru_add(actor, my->page);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__writer(struct actor *actor)
{
	const struct writer frame = { 0 };

	return engine_call(&actor->thread, writer, &frame, sizeof(frame));
}
