/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine/engine.h - actors that follow procedures, one on each CPU of des.h: they call
 * one another, take locks, spend time, sleep and are woken.
 *
 *      stack of an actor    writer > alloc_page > shrink > swap_out > section
 *                           each with a frame of its own
 *
 * A procedure is a kernel function that can stop wherever time passes. It is called
 * with its frame and with the step that is next, again and again until a step makes an
 * event: asks for a lock, spends time, or sleeps. Then other CPUs go on, and it is
 * called with the step behind that one once its event has come.
 *
 *      enum step { ASK, COUNT, LEAVE };              in their order, so the next one
 *                                                    needs no engine_go
 *      struct visit {                                what it must remember between
 *              uint32_t door;                        two steps: arguments first,
 *              uint32_t seen;                        then what its steps find
 *      };
 *
 *      static int visit(struct actor *actor, void *frame, uint32_t step)
 *      {
 *              struct visit *my = frame;
 *
 *              switch ((enum step)step) {
 *              case ASK:
 *                      return engine_lock(&actor->thread, my->door, SITE);
 *              case COUNT:
 *                      my->seen++;
 *                      return engine_run(&actor->thread, 100);
 *              case LEAVE:
 *                      engine_return(&actor->thread, my->seen);
 *                      return engine_unlock(&actor->thread, my->door);
 *              }
 *              return SWS_ERROR_BROKEN;
 *      }
 *
 *      int world__visit(struct actor *actor, uint32_t door)      its caller sees this alone,
 *      {                                                         and in its own next step
 *              const struct visit frame = { .door = door };      thread.result
 *
 *              return engine_call(&actor->thread, visit, &frame, sizeof(frame));
 *      }
 *
 * A step makes one event at most, and calls one procedure at most. Whoever leaves and
 * calls in one step is replaced by what it called; its frame is gone then.
 *
 * The bytes of the stack while visit has called section (engine.c), 16 before each frame:
 *
 *      0             16         24             40                             64
 *      | visit, step | door,    | section,     | action, subject, lock, site  |
 *      | no caller   |     seen | step, 0      |                              |
 *                               ^ top                                          ^ end
 *
 * Its last step leaves: end is 24, top is 0, and visit goes on with the step behind.
 * With plain C calls each actor would need a thread, for it stops in the middle of them,
 * and the order of threads is not ours to repeat.
 */
#ifndef SWAPSIM_ENGINE_ENGINE_H
#define SWAPSIM_ENGINE_ENGINE_H

#include "swapsim/des.h"

#include <string.h>

enum {
	ENGINE_STACK = 2048, /* bytes of the frames of an actor */
	ENGINE_ALIGNMENT = 8,
	ENGINE_EMPTY = UINT16_MAX,
};

/* The user's: who follows procedures. A struct engine_thread is its first field. */
struct actor;

typedef int engine_procedure(struct actor *actor, void *frame, uint32_t step);

/* What is done under a lock, at the moment at which it was had; the lock is held for *ns then. */
typedef int engine_action(struct actor *actor, void *subject, uint64_t *ns);

/* A place in the code that takes a lock; the user has a table of them. */
struct engine_site {
	const char *name;
	bool irq_save;
};

struct engine {
	struct sws_des *des;
	const struct engine_site *sites;
	/* Work outside of locks varies by so much about its cost. */
	uint32_t spread_percent;
};

/* What lies before a procedure's own frame on the stack. */
struct engine_frame {
	engine_procedure *procedure;
	uint32_t step;
	/* The frame below, ENGINE_EMPTY: none. */
	uint16_t caller;
};

struct engine_thread {
	struct engine *engine;
	struct sws_generator generator;
	uint32_t cpu;
	/* What the procedure that was called last returned. */
	uint32_t result;
	/* The user's word for what it sleeps for. */
	uint32_t sleeps_for;
	/* A step made an event, or went to sleep. */
	bool waits;
	/* It has no event until another one makes it, */
	bool asleep;
	/* or has one, when its sleep is over at the latest. */
	bool dozes;
	uint64_t dozes_until;
	/* Of what des.h counts as run: time that passed until something known would come. */
	uint64_t awaited_ns;
	uint16_t top;
	uint16_t end;
	_Alignas(ENGINE_ALIGNMENT) unsigned char stack[ENGINE_STACK];
};

/* An empty stack, and a stream of random numbers of its own. */
void sws_engine__begin(struct engine *engine, struct engine_thread *thread, uint32_t cpu,
		       uint64_t seed);

/* The thread's event has come: it goes on until a step made the next one. */
int sws_engine__resume(struct engine_thread *thread);

/* Takes a lock, does the action on its subject, holds the lock for the time that it says, gives it back. */
int sws_engine__under(struct engine_thread *thread, uint32_t lock, uint32_t site,
		      engine_action *action, void *subject);

/* Where its CPU's time went; waits for what was known to come are idleness. */
struct sws_des_cpu sws_engine__time_of(const struct engine_thread *thread);

static inline uint64_t engine_now(const struct engine *engine)
{
	return sws_des_now(engine->des);
}

/* The CPU is busy for ns; 0 makes no event. */
static inline int engine_run(struct engine_thread *thread, uint64_t ns)
{
	if (!ns)
		return SWS_OK;
	thread->waits = true;
	return sws_des_run(thread->engine->des, thread->cpu, ns);
}

/*
 * The same for work that is not always as long: uniform about ns. 1000 ns spread by 10 %
 * take 900 to 1100, 201 values. Without a spread a number is drawn as well, so the actor's
 * later draws are the same ones.
 */
static inline int engine_work(struct engine_thread *thread, uint64_t ns)
{
	const uint64_t spread = ns * thread->engine->spread_percent / 100;

	return engine_run(thread,
			  ns - spread + sws_generator_below(&thread->generator, 2 * spread + 1));
}

/* The CPU is idle for ns. */
static inline int engine_await(struct engine_thread *thread, uint64_t ns)
{
	thread->awaited_ns += ns;
	return engine_run(thread, ns);
}

static inline int engine_lock(struct engine_thread *thread, uint32_t lock, uint32_t site)
{
	thread->waits = true;
	return sws_des_lock(thread->engine->des, thread->cpu, lock, site,
			    thread->engine->sites[site].irq_save);
}

static inline int engine_unlock(struct engine_thread *thread, uint32_t lock)
{
	return sws_des_unlock(thread->engine->des, thread->cpu, lock);
}

/* Goes on when the other CPU has taken an interrupt. */
static inline int engine_interrupt(struct engine_thread *thread, uint32_t other, uint64_t sent,
				   uint32_t site)
{
	thread->waits = true;
	return sws_des_interrupt(thread->engine->des, thread->cpu, other, sent, site);
}

/* The thread goes on when another one wakes it. */
static inline int engine_sleep(struct engine_thread *thread, uint32_t for_what)
{
	thread->waits = true;
	thread->asleep = true;
	thread->sleeps_for = for_what;
	return SWS_OK;
}

/* The same, but for ns at most; sws_engine__resume ends it when nobody did. */
static inline int engine_doze(struct engine_thread *thread, uint64_t ns, uint32_t for_what)
{
	thread->asleep = true;
	thread->dozes = true;
	thread->dozes_until = engine_now(thread->engine) + ns;
	thread->sleeps_for = for_what;
	thread->waits = true;
	thread->awaited_ns += ns;
	return sws_des_run(thread->engine->des, thread->cpu, ns);
}

static inline int engine_wake(struct engine_thread *thread)
{
	if (!thread->asleep)
		return SWS_OK;
	thread->asleep = false;
	if (!thread->dozes)
		return sws_des_run(thread->engine->des, thread->cpu, 0);
	thread->dozes = false;
	thread->awaited_ns -= thread->dozes_until - engine_now(thread->engine);
	return sws_des_hasten(thread->engine->des, thread->cpu);
}

static inline struct engine_frame *engine_top(struct engine_thread *thread)
{
	return (struct engine_frame *)(void *)(thread->stack + thread->top);
}

/* The procedure on top goes on with this step. */
static inline void engine_go(struct engine_thread *thread, uint32_t step)
{
	engine_top(thread)->step = step;
}

/* The procedure on top is done. */
static inline void engine_leave(struct engine_thread *thread)
{
	thread->end = thread->top;
	thread->top = engine_top(thread)->caller;
}

static inline void engine_return(struct engine_thread *thread, uint32_t result)
{
	thread->result = result;
	engine_leave(thread);
}

/* Puts a procedure on top, with a copy of its frame. */
static inline int engine_call(struct engine_thread *thread, engine_procedure *procedure,
			      const void *frame, size_t size)
{
	const size_t rounded = (size + ENGINE_ALIGNMENT - 1) / ENGINE_ALIGNMENT * ENGINE_ALIGNMENT;
	const size_t end = thread->end + sizeof(struct engine_frame) + rounded;
	const uint16_t caller = thread->top;

	if (end > ENGINE_STACK)
		return SWS_ERROR_BROKEN;
	thread->top = thread->end;
	thread->end = (uint16_t)end;
	*engine_top(thread) = (struct engine_frame){ .procedure = procedure, .caller = caller };
	if (size)
		memcpy(engine_top(thread) + 1, frame, size);
	return SWS_OK;
}

#endif
