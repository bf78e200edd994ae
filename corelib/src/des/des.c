/* SPDX-License-Identifier: GPL-2.0-or-later */
/* des/des.c - the clock and the queue of events. */
#include "des/queue.h"

#include <string.h>

#define SITES_MAX         65536U
#define HAND_OFF_WAYS_MAX 8U

void sws_des_config_init(struct sws_des_config *config)
{
	*config = (struct sws_des_config){
		.cpus = 1,
		.cpus_per_core = 1,
		.cpus_per_socket = 1,
		.sites = 1,
		.travel_same_core_ns = 5,
		.travel_same_socket_ns = 30,
		.travel_other_socket_ns = 90,
		.hand_off_ways = 3,
	};
}

static bool config_fits(const struct sws_des_config *config)
{
	return config->cpus >= 1 && config->cpus <= CPUS_MAX && config->cpus_per_core >= 1 &&
	       config->cpus_per_socket >= 1 &&
	       config->cpus_per_socket % config->cpus_per_core == 0 && config->sites >= 1 &&
	       config->sites <= SITES_MAX && config->travel_same_core_ns < TIME_MAX / CPUS_MAX &&
	       config->travel_same_socket_ns < TIME_MAX / CPUS_MAX &&
	       config->travel_other_socket_ns < TIME_MAX / CPUS_MAX &&
	       config->irq_save_ns < TIME_MAX / CPUS_MAX && config->hand_off_ways >= 1 &&
	       config->hand_off_ways <= HAND_OFF_WAYS_MAX &&
	       config->contended_ns < TIME_MAX / CPUS_MAX;
}

int sws_des_new(const struct sws_des_config *config, struct sws_des **out)
{
	struct sws_des *self = NULL;
	int error = SWS_ERROR_NO_MEMORY;

	*out = NULL;
	if (!config_fits(config))
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->config = *config;
	self->travel_ns[0] = config->travel_same_core_ns;
	self->travel_ns[1] = config->travel_same_socket_ns;
	self->travel_ns[2] = config->travel_other_socket_ns;
	self->cpus = sws_allocate_zeroed(&self->allocator, config->cpus, sizeof(*self->cpus));
	self->sites = sws_allocate_zeroed(&self->allocator, config->sites, sizeof(*self->sites));
	self->queue = sws_allocate_zeroed(&self->allocator, config->cpus, sizeof(*self->queue));
	if (!self->cpus || !self->sites || !self->queue)
		goto out;
	for (uint32_t cpu = 0; cpu < config->cpus; cpu++) {
		self->cpus[cpu].first_caller = NO_CPU;
		self->cpus[cpu].last_caller = NO_CPU;
		self->cpus[cpu].core = cpu / config->cpus_per_core;
		self->cpus[cpu].socket = cpu / config->cpus_per_socket;
	}
	error = SWS_OK;
	*out = self;
	self = NULL;
out:
	sws_des_free(self);
	return error;
}

void sws_des_free(struct sws_des *self)
{
	if (!self)
		return;
	sws_release(&self->allocator, self->queue);
	sws_release(&self->allocator, self->sites);
	sws_release(&self->allocator, self->locks);
	sws_release(&self->allocator, self->cpus);
	sws_destroy(self);
}

uint64_t sws_des_now(const struct sws_des *self)
{
	return self->now;
}

bool sws_des_peek(const struct sws_des *self, uint64_t *time)
{
	if (!self->n_events)
		return false;
	*time = self->cpus[self->queue[self->n_events - 1]].until;
	return true;
}

bool sws_des_next(struct sws_des *self, uint32_t *cpu)
{
	if (!self->n_events)
		return false;
	*cpu = self->queue[--self->n_events];
	self->now = self->cpus[*cpu].until;
	self->cpus[*cpu].state = CPU_IDLE;
	return true;
}

int sws_des_run(struct sws_des *self, uint32_t cpu, uint64_t ns)
{
	struct cpu *runner = NULL;

	if (!des_is_idle(self, cpu) || ns > TIME_MAX || self->now > TIME_MAX)
		return SWS_ERROR_BAD_ARGUMENT;
	runner = des_resume(self, cpu);
	if (runner->crowded)
		ns += self->config.contended_ns;
	runner->crowded = false;
	if (runner->held)
		runner->account.hold_ns += ns;
	else
		runner->account.run_ns += ns;
	des_push(self, cpu, self->now + ns);
	return SWS_OK;
}

int sws_des_hasten(struct sws_des *self, uint32_t number)
{
	struct cpu *cpu = NULL;
	uint32_t at = 0;

	if (number >= self->config.cpus || self->cpus[number].state != CPU_PENDING ||
	    self->cpus[number].held)
		return SWS_ERROR_BAD_ARGUMENT;
	cpu = &self->cpus[number];
	/* Its event is due now: a new one would come behind those created since. */
	if (cpu->until == self->now)
		return SWS_OK;
	cpu->account.run_ns -= cpu->until - self->now;
	while (self->queue[at] != number)
		at++;
	memmove(&self->queue[at], &self->queue[at + 1],
		(--self->n_events - at) * sizeof(*self->queue));
	des_push(self, number, self->now);
	return SWS_OK;
}

struct sws_des_site sws_des_site_of(const struct sws_des *self, uint32_t site)
{
	return site < self->config.sites ? self->sites[site] : (struct sws_des_site){ 0 };
}

struct sws_des_cpu sws_des_cpu_of(const struct sws_des *self, uint32_t cpu)
{
	return cpu < self->config.cpus ? self->cpus[cpu].account : (struct sws_des_cpu){ 0 };
}
