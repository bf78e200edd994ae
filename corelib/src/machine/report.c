/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/report.c - the results of a machine so far. */
#include "machine/layout.h"

uint32_t sws_machine_longest_ended(const struct sws_machine *self)
{
	return self->longest_ended;
}

uint64_t sws_machine_now(const struct sws_machine *self)
{
	return machine_now(self);
}

uint64_t sws_machine_events(const struct sws_machine *self)
{
	return self->events;
}

bool sws_machine_stuck(const struct sws_machine *self)
{
	return self->stuck;
}

uint32_t sws_machine_cpus(const struct sws_machine *self)
{
	return self->n_actors;
}

struct sws_machine_cpu sws_machine_cpu_of(const struct sws_machine *self, uint32_t cpu)
{
	struct sws_machine_cpu count = { 0 };

	if (cpu >= self->n_actors)
		return count;
	count = self->actors[cpu].count;
	count.time = sws_engine__time_of(&self->actors[cpu].thread);
	return count;
}

struct sws_des_site sws_machine_site_of(const struct sws_machine *self, uint32_t site)
{
	return sws_des_site_of(self->engine.des, site);
}

static void add_work(struct sws_slots_work *sum, const struct sws_slots_work *work)
{
	uint64_t each[sizeof(*work) / sizeof(uint64_t)];
	uint64_t sums[sizeof(*work) / sizeof(uint64_t)];

	memcpy(each, work, sizeof(each));
	memcpy(sums, sum, sizeof(sums));
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++)
		sums[i] += each[i];
	memcpy(sum, sums, sizeof(sums));
}

struct sws_slots_work sws_machine_slots_work(const struct sws_machine *self)
{
	struct sws_slots_work sum = { 0 };

	for (uint32_t n = 0; n < self->config.devices; n++)
		add_work(&sum, &self->devices[n].work);
	return sum;
}

uint64_t sws_machine_shared_slots(const struct sws_machine *self)
{
	uint64_t sum = 0;

	for (uint32_t n = 0; n < self->config.devices; n++)
		sum += self->devices[n].shared_slots;
	return sum;
}
