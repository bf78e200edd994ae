/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vm/nfs.c - a file on a server. A page that was written stays private, and in memory, until
 * the server has committed it:
 *
 *      dirty -> writeback -> unstable -> committing -> clean        the flusher's, in runs
 *      dirty -> writeback -> clean                                  reclaim's, one by one, stable
 *
 *                   flags of the page            patch 8's callback   while a commit is under way
 *      dirty        PG_dirty, PG_private         dirty                dirty, under writeback
 *      writeback    PG_writeback, PG_private     dirty, u. w.         under writeback
 *      unstable     PG_private                   dirty                under writeback
 *      clean        none                         is not asked         is not asked
 *
 * So an unstable page is clean to all kernels before patch 8, which come as far as asking for its
 * release; they and the later ones activate it there, for it is not let go of.
 *
 *      net     | write 256 | write 256 | write 1 (stable) | write 1 (stable) | write 256 ...
 *      server                             | stable        | stable, stable | commit |
 *
 * The server's disk has one way for each: for a commit of all that lies in its memory, and for
 * stable writes of up to NFSD_THREADS calls that wait, which its journal takes together.
 *
 * One commit is under way at a time. Reclaim that meets an unstable page asks for one: kswapd goes
 * on, a task waits for the one under way, and for its own behind it.
 */
#include "reclaim/nfs.h"

#include "reclaim/bandwidth.h"
#include "reclaim/disk.h"
#include "reclaim/pages.h"

/* Of a server, as nfs-utils starts it. */
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

int sws_reclaim__send(struct sws_reclaim *vm, uint32_t first, uint32_t pages, bool stable)
{
	if (vm->server.net.n == vm->server.net.room)
		return SWS_ERROR_BROKEN;
	push(&vm->server.net, (struct call){ .first = first, .pages = pages, .stable = stable });
	if (vm->file.writeback > vm->server.congested_from)
		vm->server.congested = true;
	return sws_reclaim__call(vm, VM_NET);
}

int sws_reclaim__commit(struct sws_reclaim *vm)
{
	struct server *server = &vm->server;
	uint32_t *indices = server->unstable;

	if (!server->n_unstable || server->n_committing)
		return SWS_OK;
	server->unstable = server->committing;
	server->committing = indices;
	server->n_committing = server->n_unstable;
	server->n_unstable = 0;
	push(&server->disk, (struct call){ .pages = 0 });
	return sws_reclaim__call(vm, VM_SERVER);
}

int sws_reclaim__commit_many(struct sws_reclaim *vm)
{
	const uint64_t in_use = (uint64_t)vm->file.dirty + vm->file.writeback + vm->file.unstable;

	return vm->server.n_unstable > in_use / 2 ? sws_reclaim__commit(vm) : SWS_OK;
}

enum await_step { ASK, WAIT };

struct awaiting {
	uint64_t since;
	bool asked;
};

static int await_commit(struct actor *actor, void *frame, uint32_t step)
{
	struct awaiting *my = frame;
	struct sws_reclaim *vm = actor->vm;
	int error = SWS_OK;

	switch ((enum await_step)step) {
	case ASK:
		my->since = vm_now(vm);
		vm->counts.commit_waits++;
		return SWS_OK;
	case WAIT:
		if (!my->asked && !vm->server.n_committing) {
			my->asked = true;
			error = sws_reclaim__commit(vm);
		}
		if (!error && vm->server.n_committing) {
			engine_go(&actor->thread, WAIT);
			return engine_sleep(&actor->thread, SLEEP_COMMIT);
		}
		vm->counts.commit_wait_ns += vm_now(vm) - my->since;
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

uint16_t sws_reclaim__ask_nfs(const struct sws_reclaim *vm, const struct page *page)
{
	const bool has_private = vm_is(page, VM_DIRTY | VM_WRITEBACK | VM_UNSTABLE);

	if (!has_private)
		return 0;
	return (uint16_t)(SWS_STALL_PAGE_NFS |
			  sws_stall_ask_nfs(vm_is(page, VM_DIRTY), vm_is(page, VM_WRITEBACK), false,
					    vm->server.n_committing > 0, true));
}

/* Pages that a call wrote: unstable, or for good. */
static void end_writes(struct sws_reclaim *vm, const struct call *call)
{
	struct server *server = &vm->server;

	for (uint32_t i = call->first; i < call->first + call->pages; i++) {
		const uint32_t frame = vm->file.frames[i] - 1;

		if (!call->stable) {
			vm_set(&vm->pages[frame], VM_UNSTABLE);
			vm->zones[vm_zone_of(vm, frame)].unstable++;
			vm->file.unstable++;
			server->unstable[server->n_unstable++] = i;
		}
		sws_reclaim__end_writeback(vm, frame);
	}
	vm->work += call->pages;
	sws_reclaim__measure(vm, call->pages);
}

static int wake_waiters(struct sws_reclaim *vm)
{
	const uint32_t from = vm->server.congested_from;
	int error = vm->file.writeback ? SWS_OK : sws_reclaim__wake(vm, SLEEP_SYNC);

	if (error || vm->file.writeback >= from - from / 4)
		return error;
	vm->server.congested = false;
	return sws_reclaim__wake(vm, SLEEP_CONGESTION);
}

enum step { NEXT, DONE };

struct serve {
	struct call call;
};

struct storing {
	/* Calls at the head of the queue that are written; 0: a commit is. */
	uint32_t stable;
};

/* Over the net: what is to be stable goes on to the disk, the rest is answered. */
static int carry(struct actor *actor, void *frame, uint32_t step)
{
	struct serve *my = frame;
	struct sws_reclaim *vm = actor->vm;

	if (step == NEXT && !vm->server.net.n) {
		engine_go(&actor->thread, NEXT);
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	}
	if (step == NEXT) {
		my->call = pop(&vm->server.net);
		return engine_run(&actor->thread, my->call.pages * SECOND_NS / vm->config.net_rate);
	}
	engine_go(&actor->thread, NEXT);
	if (my->call.stable) {
		push(&vm->server.disk, my->call);
		return sws_reclaim__call(vm, VM_SERVER);
	}
	vm->server.in_memory += my->call.pages;
	end_writes(vm, &my->call);
	return wake_waiters(vm);
}

/* Pages of a commit that is over are clean, and nobody's but memory's; some at a time. */
static uint32_t let_go(struct sws_reclaim *vm)
{
	struct server *server = &vm->server;
	uint32_t n = 0;

	for (; n < VM_BATCH && server->n_committing; n++) {
		const uint32_t index = server->committing[--server->n_committing];
		const uint32_t frame = vm->file.frames[index] - 1;

		vm_clear(&vm->pages[frame], VM_UNSTABLE);
		vm->zones[vm_zone_of(vm, frame)].unstable--;
		vm->file.unstable--;
	}
	vm->work += n;
	vm->counts.committed += n;
	return n;
}

/* Stable writes at the head of the queue that are written at once. */
static uint32_t together(const struct calls *calls)
{
	uint32_t n = 0;

	while (n < NFSD_THREADS && n < calls->n &&
	       calls->ring[(calls->first + n) % calls->room].stable)
		n++;
	return n;
}

static uint64_t commit_ns(struct sws_reclaim *vm)
{
	const uint64_t in_memory = vm->server.in_memory;

	vm->server.in_memory = 0;
	return in_memory * SECOND_NS / vm->config.server_rate;
}

static int end_stable(struct sws_reclaim *vm, uint32_t calls)
{
	for (; calls > 0; calls--) {
		const struct call call = pop(&vm->server.disk);

		end_writes(vm, &call);
	}
	return wake_waiters(vm);
}

/* A commit is over: its pages are let go of, and then who waits goes on. */
static int end_commit(struct actor *actor)
{
	struct sws_reclaim *vm = actor->vm;
	const uint64_t ns = let_go(vm) * vm->config.costs.drop_ns;
	int error = SWS_OK;

	if (vm->server.n_committing) {
		engine_go(&actor->thread, DONE);
		return engine_run(&actor->thread, ns);
	}
	vm->counts.commits++;
	error = sws_reclaim__wake(vm, SLEEP_SYNC);
	if (!error)
		error = sws_reclaim__wake(vm, SLEEP_COMMIT);
	return error ? error : engine_run(&actor->thread, ns);
}

static int store(struct actor *actor, void *frame, uint32_t step)
{
	struct storing *my = frame;
	struct sws_reclaim *vm = actor->vm;
	struct calls *calls = &vm->server.disk;

	engine_go(&actor->thread, NEXT);
	if (step != NEXT)
		return my->stable ? end_stable(vm, my->stable) : end_commit(actor);
	if (!calls->n)
		return engine_sleep(&actor->thread, SLEEP_TO_BE_WOKEN);
	my->stable = together(calls);
	if (!my->stable)
		pop(calls);
	engine_go(&actor->thread, DONE);
	return engine_run(&actor->thread,
			  vm->config.server_seek_ns + (my->stable ? 0 : commit_ns(vm)));
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
