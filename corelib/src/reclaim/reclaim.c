/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/reclaim.c - construction and run of a simulation. */
#include "reclaim/reclaim.h"
#include "reclaim/disk.h"
#include "reclaim/lists.h"
#include "reclaim/nfs.h"
#include "reclaim/writeback.h"
#include "reclaim/zones.h"

#include <string.h>

/* Requests that may exceed a full queue: each actor submits one more before it waits. */
enum { REQUESTS_ABOVE = 128 };

/* A call holds at least one page that no other call has, or is the only commit. */
static int make_server(struct sws_reclaim *self)
{
	const struct sws_allocator *allocator = &self->allocator;
	const uint32_t calls = sws_reclaim__largest_file(&self->config) + 2;
	struct server *server = &self->server;

	if (!self->config.nfs)
		return SWS_OK;
	server->net.room = server->disk.room = calls;
	server->net.ring = sws_allocate_zeroed(allocator, calls, sizeof(struct call));
	server->disk.ring = sws_allocate_zeroed(allocator, calls, sizeof(struct call));
	server->unstable = sws_allocate_zeroed(allocator, calls, sizeof(uint32_t));
	server->committing = sws_allocate_zeroed(allocator, calls, sizeof(uint32_t));
	server->congested_from = sws_reclaim__nfs_congestion(&self->config);
	return server->net.ring && server->disk.ring && server->unstable && server->committing
		       ? SWS_OK
		       : SWS_ERROR_NO_MEMORY;
}

static int make_queues(struct sws_reclaim *self)
{
	self->disk.room = self->config.nr_requests + REQUESTS_ABOVE;
	for (uint32_t i = 0; i < NR_QUEUES; i++) {
		self->disk.queues[i].requests = sws_allocate_zeroed(
			&self->allocator, self->disk.room, sizeof(struct request));
		if (!self->disk.queues[i].requests)
			return SWS_ERROR_NO_MEMORY;
	}
	return SWS_OK;
}

static int allocate_parts(struct sws_reclaim *self)
{
	const struct sws_allocator *allocator = &self->allocator;
	const struct sws_reclaim_config *config = &self->config;
	const uint64_t file = (uint64_t)sws_reclaim__largest_file(config) + config->program_pages +
			      config->working_pages + config->cached_pages + 1;

	self->n_pages = config->dma32_pages + config->normal_pages;
	self->n_ptes = config->items * config->item_pages;
	self->swap.pages = config->swap_pages;
	self->pages = sws_allocate_zeroed(allocator, self->n_pages, sizeof(*self->pages));
	self->ptes = sws_allocate_zeroed(allocator, self->n_ptes, sizeof(*self->ptes));
	self->file.frames = sws_allocate_zeroed(allocator, file, sizeof(uint32_t));
	self->file.dirty_bits = sws_allocate_zeroed(allocator, file / 64 + 1, sizeof(uint64_t));
	self->swap.free_bits =
		sws_allocate_zeroed(allocator, config->swap_pages / 64 + 1, sizeof(uint64_t));
	self->swap.owners =
		sws_allocate_zeroed(allocator, config->swap_pages + 1, sizeof(uint32_t));
	self->swap.frames =
		sws_allocate_zeroed(allocator, config->swap_pages + 1, sizeof(uint32_t));
	self->file_pages = sws_allocate_zeroed(allocator, config->rounds, sizeof(uint32_t));
	return self->pages && self->ptes && self->file.frames && self->file.dirty_bits &&
			       self->swap.free_bits && self->swap.owners && self->swap.frames &&
			       self->file_pages
		       ? make_queues(self)
		       : SWS_ERROR_NO_MEMORY;
}

/*
 * The order matters: at time 0 the disk and kswapd sleep before the client makes its first request.
 */
static int begin_actors(struct sws_reclaim *self)
{
	static int (*const lives[NR_ACTORS])(struct actor *) = {
		[ACTOR_CLIENT] = sws_reclaim__client,    [ACTOR_WRITER] = sws_reclaim__writer,
		[ACTOR_FLUSHER] = sws_reclaim__flusher,  [ACTOR_KSWAPD] = sws_reclaim__kswapd,
		[ACTOR_DISK] = sws_reclaim__disk,        [ACTOR_NET] = sws_reclaim__net,
		[ACTOR_SERVER] = sws_reclaim__server,    [ACTOR_PROGRAMS] = sws_reclaim__programs,
		[ACTOR_WORKING] = sws_reclaim__programs,
	};
	int error = SWS_OK;

	for (uint32_t i = NR_ACTORS; i-- > 0 && !error;) {
		struct actor *actor = &self->actors[i];

		actor->reclaim = self;
		actor->kind = (enum actor_kind)i;
		sws_engine__begin(&self->engine, &actor->thread, i, self->config.seed);
		error = lives[i](actor);
		if (!error)
			error = sws_des_run(self->engine.des, i, 0);
	}
	return error;
}

/* Allocates a frame of a zone above its low mark, else of another zone. */
static uint32_t take_from(struct sws_reclaim *self, uint32_t zone)
{
	if (sws_reclaim__zone_has(self, zone, self->zones[zone].low, self->n_zones - 1))
		return sws_reclaim__frame_take(self, zone);
	return sws_reclaim__take_fast(self, false);
}

/*
 * The indices of cached pages follow those of the programs; the rest of memory stays free.
 */
static void fill_cache(struct sws_reclaim *self)
{
	const struct sws_reclaim_config *config = &self->config;
	const uint32_t first = self->first_program + config->program_pages + config->working_pages;
	const uint32_t upper =
		(uint32_t)((uint64_t)config->cached_pages * config->cached_normal_percent / 100);

	for (uint32_t i = 0; i < config->cached_pages; i++) {
		const uint32_t frame = take_from(self, i < upper ? self->n_zones - 1 : 0);

		if (frame == NO_FRAME)
			return;
		self->pages[frame].index = first + i;
		page_set(&self->pages[frame], PAGE_FILE);
		self->file.frames[first + i] = frame + 1;
		sws_reclaim__list_add(self, frame, LRU_INACTIVE_FILE);
	}
}

static int assemble(struct sws_reclaim *self)
{
	struct sws_des_config des;
	int error = allocate_parts(self);

	if (!error)
		error = make_server(self);
	if (error)
		return error;
	if (self->config.file_pages)
		memcpy(self->file_pages, self->config.file_pages,
		       self->config.rounds * sizeof(uint32_t));
	self->rules = sws_stall_rules_of(self->config.rules);
	self->bandwidth.rate = self->config.nfs ? self->config.net_rate : self->config.disk_rate;
	memset(self->swap.free_bits, UINT8_MAX,
	       (self->config.swap_pages / 64 + 1) * sizeof(uint64_t));
	self->first_program = sws_reclaim__largest_file(&self->config);
	sws_reclaim__make_zones(self);
	if (sws_reclaim__fill_programs(self))
		fill_cache(self);
	/* The caller's array has been copied. */
	self->config.file_pages = NULL;
	sws_des_config_init(&des);
	des.cpus = NR_ACTORS;
	des.cpus_per_socket = NR_ACTORS;
	des.allocator = &self->allocator;
	error = sws_des_new(&des, &self->engine.des);
	return error ? error : begin_actors(self);
}

int sws_reclaim_new(const struct sws_reclaim_config *config, struct sws_reclaim **out)
{
	struct sws_reclaim *self = NULL;
	int error = SWS_OK;

	*out = NULL;
	if (sws_reclaim_check(config) != SWS_RECLAIM_NO_PROBLEM)
		return SWS_ERROR_BAD_CONFIG;
	self = sws_create(config->allocator, sizeof(*self));
	if (!self)
		return SWS_ERROR_NO_MEMORY;
	self->config = *config;
	error = assemble(self);
	if (error)
		sws_reclaim_free(self);
	else
		*out = self;
	return error;
}

void sws_reclaim_free(struct sws_reclaim *self)
{
	if (!self)
		return;
	sws_des_free(self->engine.des);
	sws_release(&self->allocator, self->server.committing);
	sws_release(&self->allocator, self->server.unstable);
	sws_release(&self->allocator, self->server.disk.ring);
	sws_release(&self->allocator, self->server.net.ring);
	sws_release(&self->allocator, self->file_pages);
	for (uint32_t i = 0; i < NR_QUEUES; i++)
		sws_release(&self->allocator, self->disk.queues[i].requests);
	sws_release(&self->allocator, self->swap.frames);
	sws_release(&self->allocator, self->swap.owners);
	sws_release(&self->allocator, self->swap.free_bits);
	sws_release(&self->allocator, self->file.dirty_bits);
	sws_release(&self->allocator, self->file.frames);
	sws_release(&self->allocator, self->ptes);
	sws_release(&self->allocator, self->pages);
	sws_destroy(self);
}

int sws_reclaim_run(struct sws_reclaim *self, uint64_t until_ns, uint64_t work, bool *more)
{
	uint64_t next = 0;
	uint32_t cpu = 0;
	int error = SWS_OK;

	self->work = 0;
	*more = true;
	while (!error && *more && self->work < work) {
		*more = !sws_reclaim_is_over(self) && sws_des_peek(self->engine.des, &next) &&
			next < until_ns;
		if (!*more || !sws_des_next(self->engine.des, &cpu))
			break;
		self->work++;
		self->events++;
		error = sws_engine__resume(&self->actors[cpu].thread);
	}
	return error;
}
