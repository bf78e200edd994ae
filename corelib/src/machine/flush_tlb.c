/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/flush_tlb.c - flushes stale TLB entries of other CPUs: try_to_unmap_flush of mm/rmap.c
 * (from 4.3 on). A reclaimer on CPU 3 unmaps pages of the tasks on CPUs 0, 1 and 2:
 *
 *      page      of CPU   written   stale        effect
 *      a         0        no        0
 *      b         1        no        0 1
 *      c         2        yes       0 1 2        interrupts 0, 1 and 2, waits for all, writes c
 *      d         3        yes       -            its own CPU: no interrupt; writes d
 *      e         0        no        0            end of the list: interrupts 0, waits
 *
 * All interrupts are sent at once, so the wait is the longest of them. CPU 0 waits for a lock with
 * interrupts off. CPU 1 does so when its turn comes, but has had them on since the interrupt was
 * sent:
 *
 *      sent to 0 and 1  |~~~ CPU 0's lock ~~~| CPU 1: no wait
 *
 * The cost of the interrupt itself, for sender and receiver, is in unmap_ns.
 */
#include "machine/reclaim.h"

void sws_machine__unmap(struct actor *actor, const struct page *page)
{
	struct cpu *cpu = actor->cpu;

	if (page->owner == MACHINE_NO_CPU || page->owner == actor->thread.cpu)
		return;
	for (uint32_t i = 0; i < cpu->stale.n; i++)
		if (cpu->stale.cpus[i].cpu == page->owner)
			return;
	cpu->stale.cpus[cpu->stale.n++].cpu = page->owner;
}

enum step { SEND, AWAIT };

static int flush_tlb(struct actor *actor, void *frame, uint32_t step)
{
	struct cpu *cpu = actor->cpu;
	const struct stale *next = NULL;

	(void)frame;
	switch ((enum step)step) {
	case SEND:
		for (uint32_t i = 0; i < cpu->stale.n; i++)
			cpu->stale.cpus[i].sent = sws_des_interrupts_on(actor->thread.engine->des,
									cpu->stale.cpus[i].cpu);
		return SWS_OK;
	case AWAIT:
		if (!cpu->stale.n) {
			engine_leave(&actor->thread);
			return SWS_OK;
		}
		next = &cpu->stale.cpus[--cpu->stale.n];
		engine_go(&actor->thread, AWAIT);
		return engine_interrupt(&actor->thread, next->cpu, next->sent, SWS_SITE_FLUSH);
	}
	return SWS_ERROR_BROKEN;
}

int sws_machine__flush_tlb(struct actor *actor)
{
	return actor->cpu->stale.n ? engine_call(&actor->thread, flush_tlb, NULL, 0) : SWS_OK;
}
