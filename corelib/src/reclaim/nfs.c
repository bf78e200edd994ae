/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reclaim/nfs.c - a file on an NFS server. A written page stays private, and in memory, until the
 * server has committed it:
 *
 *      dirty -> writeback -> unstable -> committing -> clean        flusher: runs of pages
 *      dirty -> writeback -> clean                                  reclaim: single pages, stable
 *
 *                   flags of the page            patch 8's callback   while a commit is under way
 *      dirty        PG_dirty, PG_private         dirty                dirty, under writeback
 *      writeback    PG_writeback, PG_private     dirty, u. w.         under writeback
 *      unstable     PG_private                   dirty                under writeback
 *      clean        none                         not called           not called
 *
 * So an unstable page is clean to all kernels before patch 8. These kernels, as the later ones, try
 * to release it, fail because of its private data, and activate it.
 *
 *      net     | write 256 | write 256 | write 1 (stable) | write 1 (stable) | write 256 ...
 *      server                             | stable        | stable, stable | commit |
 *
 * The server's disk pays one latency for a commit of all that is in its memory, and one for the
 * stable writes of up to NFSD_THREADS waiting calls, which its journal writes together.
 *
 * One commit is under way at a time. Reclaim that meets an unstable page requests a commit; kswapd
 * continues, a task waits for the commit under way and for its own after it.
 */
#include "reclaim/nfs.h"

#include "reclaim/disk.h"
#include "reclaim/pages.h"

/* The number of nfsd threads that nfs-utils starts. */
enum { NFSD_THREADS = 8 };
static const uint64_t SECOND_NS = 1000000000;

static void push(struct calls *calls, struct call call)
{
	calls->ring[(calls->first + calls->n++) % calls->room] = call;
}

static struct call pop(struct calls *calls)
{
	const struct call call = calls->ring[calls->first];

	calls->first = (calls->first + 1) % calls->room;
	calls->n--;
	return call;
}

int sws_reclaim__send(struct sws_reclaim *self, uint32_t first, uint32_t pages, bool stable)
{
	if (self->server.net.n == self->server.net.room)
		return SWS_ERROR_BROKEN;
	push(&self->server.net, (struct call){ .first = first, .pages = pages, .stable = stable });
	if (self->file.writeback > self->server.congested_from)
		self->server.congested = true;
	return sws_reclaim__call(self, ACTOR_NET);
}

int sws_reclaim__commit(struct sws_reclaim *self)
{
	struct server *server = &self->server;
	uint32_t *indices = server->unstable;

	if (!server->n_unstable || server->n_committing)
		return SWS_OK;
	server->unstable = server->committing;
	server->committing = indices;
	server->n_committing = server->n_unstable;
	server->n_unstable = 0;
	push(&server->disk, (struct call){ .pages = 0 });
	return sws_reclaim__call(self, ACTOR_SERVER);
}

int sws_reclaim__commit_many(struct sws_reclaim *self)
{
	const uint64_t in_use =
		(uint64_t)self->file.dirty + self->file.writeback + self->file.unstable;

	return self->server.n_unstable > in_use / 2 ? sws_reclaim__commit(self) : SWS_OK;
}

enum await_step { ASK, WAIT };

struct awaiting {
	uint64_t since;
	bool asked;
};

static int await_commit(struct actor *actor, void *frame, uint32_t step)
{
	struct awaiting *my = frame;
	struct sws_reclaim *self = actor->reclaim;
	int error = SWS_OK;

	switch ((enum await_step)step) {
	case ASK:
		my->since = time_now(self);
		self->counts.commit_waits++;
		return SWS_OK;
	case WAIT:
		if (!my->asked && !self->server.n_committing) {
			my->asked = true;
			error = sws_reclaim__commit(self);
		}
		if (!error && self->server.n_committing) {
			engine_go(&actor->thread, WAIT);
			return engine_sleep(&actor->thread, WAIT_COMMIT);
		}
		self->counts.commit_wait_ns += time_now(self) - my->since;
		engine_leave(&actor->thread);
		return error;
	}
	return SWS_ERROR_BROKEN;
}

int sws_reclaim__await_commit(struct actor *actor)
{
	const struct awaiting frame = { 0 };

	return engine_call(&actor->thread, await_commit, &frame, sizeof(frame));
}

uint16_t sws_reclaim__ask_nfs(const struct sws_reclaim *self, const struct page *page)
{
	const bool has_private = page_is(page, PAGE_DIRTY | PAGE_WRITEBACK | PAGE_UNSTABLE);

	if (!has_private)
		return 0;
	return (uint16_t)(SWS_STALL_PAGE_NFS |
			  sws_stall_ask_nfs(page_is(page, PAGE_DIRTY),
					    page_is(page, PAGE_WRITEBACK), false,
					    self->server.n_committing > 0, true));
}

/* Ends the writeback of the pages of a call, which become unstable or clean. */
static void end_writes(struct sws_reclaim *self, const struct call *call)
{
	struct server *server = &self->server;

	for (uint32_t i = call->first; i < call->first + call->pages; i++) {
		const uint32_t frame = self->file.frames[i] - 1;

		if (!call->stable) {
			page_set(&self->pages[frame], PAGE_UNSTABLE);
			self->zones[zone_of(self, frame)].unstable++;
			self->file.unstable++;
			server->unstable[server->n_unstable++] = i;
		}
		sws_reclaim__end_writeback(self, frame);
	}
	self->work += call->pages;
	sws_reclaim__measure(self, call->pages);
}

static int wake_waiters(struct sws_reclaim *self)
{
	const uint32_t from = self->server.congested_from;
	int error = self->file.writeback ? SWS_OK : sws_reclaim__wake(self, WAIT_SYNC);

	if (error || self->file.writeback >= from - from / 4)
		return error;
	self->server.congested = false;
	return sws_reclaim__wake(self, WAIT_CONGESTION);
}

enum step { NEXT, DONE };

struct serve {
	struct call call;
};

struct storing {
	/* Calls at the head of the queue that are written together; 0 during a commit. */
	uint32_t stable;
};

/*
 * Runs the network: commits and stable writes go on to the server's disk, other calls are answered.
 */
static int carry(struct actor *actor, void *frame, uint32_t step)
{
	struct serve *my = frame;
	struct sws_reclaim *self = actor->reclaim;

	if (step == NEXT && !self->server.net.n) {
		engine_go(&actor->thread, NEXT);
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	}
	if (step == NEXT) {
		my->call = pop(&self->server.net);
		return engine_run(&actor->thread,
				  my->call.pages * SECOND_NS / self->config.net_rate);
	}
	engine_go(&actor->thread, NEXT);
	if (my->call.stable) {
		push(&self->server.disk, my->call);
		return sws_reclaim__call(self, ACTOR_SERVER);
	}
	self->server.in_memory += my->call.pages;
	end_writes(self, &my->call);
	return wake_waiters(self);
}

/* Releases up to BATCH_PAGES pages of a finished commit; they are clean and not private. */
static uint32_t release_pages(struct sws_reclaim *self)
{
	struct server *server = &self->server;
	uint32_t n = 0;

	for (; n < BATCH_PAGES && server->n_committing; n++) {
		const uint32_t index = server->committing[--server->n_committing];
		const uint32_t frame = self->file.frames[index] - 1;

		page_clear(&self->pages[frame], PAGE_UNSTABLE);
		self->zones[zone_of(self, frame)].unstable--;
		self->file.unstable--;
	}
	self->work += n;
	self->counts.committed += n;
	return n;
}

/* Returns the number of stable writes at the head of the queue, up to NFSD_THREADS. */
static uint32_t together(const struct calls *calls)
{
	uint32_t n = 0;

	while (n < NFSD_THREADS && n < calls->n &&
	       calls->ring[(calls->first + n) % calls->room].stable)
		n++;
	return n;
}

static uint64_t commit_ns(struct sws_reclaim *self)
{
	const uint64_t in_memory = self->server.in_memory;

	self->server.in_memory = 0;
	return in_memory * SECOND_NS / self->config.server_rate;
}

static int end_stable(struct sws_reclaim *self, uint32_t calls)
{
	for (; calls > 0; calls--) {
		const struct call call = pop(&self->server.disk);

		end_writes(self, &call);
	}
	return wake_waiters(self);
}

/* Ends a commit: releases its pages, then wakes the tasks that wait for it. */
static int end_commit(struct actor *actor)
{
	struct sws_reclaim *self = actor->reclaim;
	const uint64_t ns = release_pages(self) * self->config.costs.drop_ns;
	int error = SWS_OK;

	if (self->server.n_committing) {
		engine_go(&actor->thread, DONE);
		return engine_run(&actor->thread, ns);
	}
	self->counts.commits++;
	error = sws_reclaim__wake(self, WAIT_SYNC);
	if (!error)
		error = sws_reclaim__wake(self, WAIT_COMMIT);
	return error ? error : engine_run(&actor->thread, ns);
}

static int store(struct actor *actor, void *frame, uint32_t step)
{
	struct storing *my = frame;
	struct sws_reclaim *self = actor->reclaim;
	struct calls *calls = &self->server.disk;

	engine_go(&actor->thread, NEXT);
	if (step != NEXT)
		return my->stable ? end_stable(self, my->stable) : end_commit(actor);
	if (!calls->n)
		return engine_sleep(&actor->thread, WAIT_WAKE_UP);
	my->stable = together(calls);
	if (!my->stable)
		pop(calls);
	engine_go(&actor->thread, DONE);
	return engine_run(&actor->thread,
			  self->config.server_seek_ns + (my->stable ? 0 : commit_ns(self)));
}

int sws_reclaim__net(struct actor *actor)
{
	const struct serve frame = { 0 };

	return engine_call(&actor->thread, carry, &frame, sizeof(frame));
}

int sws_reclaim__server(struct actor *actor)
{
	const struct storing frame = { 0 };

	return engine_call(&actor->thread, store, &frame, sizeof(frame));
}
