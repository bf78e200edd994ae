/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/place.c - actors change their slot CPU. An actor retains its number in the clock, its
 * free pages and its lists, and uses another base and another slot cache. Two nodes with a task and
 * a kswapd each, and two spare CPUs; after the task of node 1 has changed its CPU:
 *
 *      slot CPU      0      1        2    3        4    5        6      7
 *      actor         0      1        -    -        -    3        -      2
 *      node          0      0        0    0        1    1        1      1
 */
#include "machine/tasks.h"

static uint32_t cpus_of_node(const struct sws_machine *self)
{
	return self->n_slot_cpus / self->config.nodes;
}

static void stay(struct actor *actor)
{
	const uint64_t most = 2 * actor->machine->config.stay_ns;

	actor->stays_until =
		machine_now(actor->machine) + sws_generator_below(&actor->thread.generator, most);
}

void sws_machine__place(struct actor *actor)
{
	struct sws_machine *self = actor->machine;
	const uint32_t in_node = actor->thread.cpu % sws_machine__cpus_per_node(&self->config);

	actor->slot_cpu = actor->count.node * cpus_of_node(self) + in_node;
	self->slot_cpus[actor->slot_cpu].taken = true;
	if (self->config.stay_ns)
		stay(actor);
}

static bool is_free(const struct sws_machine *self, uint32_t cpu)
{
	return !self->slot_cpus[cpu].taken;
}

static void go_to(struct actor *actor, uint32_t cpu)
{
	struct sws_machine *self = actor->machine;

	self->slot_cpus[actor->slot_cpu].taken = false;
	self->slot_cpus[cpu].taken = true;
	actor->slot_cpu = cpu;
	actor->count.changes++;
}

void sws_machine__change_cpu(struct actor *actor)
{
	struct sws_machine *self = actor->machine;
	const uint32_t first = actor->count.node * cpus_of_node(self);
	uint32_t cpu = first;
	uint32_t n_free = 0;
	uint64_t rank = 0;

	if (!self->config.stay_ns || machine_now(self) < actor->stays_until)
		return;
	for (uint32_t i = 0; i < cpus_of_node(self); i++)
		n_free += is_free(self, first + i);
	if (!n_free)
		return;
	rank = sws_generator_below(&actor->thread.generator, n_free);
	while (!is_free(self, cpu) || rank--)
		cpu++;
	go_to(actor, cpu);
	stay(actor);
}
