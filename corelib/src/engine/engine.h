/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine/engine.h - actors that run procedures, one on each CPU of des.h: procedures call each
 * other, take locks, spend time, sleep and are woken.
 *
 *      stack of an actor    writer > alloc_page > shrink > swap_out > section
 *                           each with a frame of its own
 *
 * A procedure is a kernel function that can stop wherever time passes. It is called with its frame
 * and the number of its next step, again and again until a step creates an event: it requests a
 * lock, spends time, or sleeps. Then other CPUs run, and when the event has occurred, the procedure
 * is called with the next step.
 *
 *      enum step { ASK, COUNT, LEAVE };              in their order, so the next one
 *                                                    needs no engine_go
 *      struct visit {                                the state between two steps:
 *              uint32_t lock;                        arguments first, then
 *              uint32_t seen;                        intermediate results
 *      };
 *
 *      static int visit(struct actor *actor, void *frame, uint32_t step)
 *      {
 *              struct visit *my = frame;
 *
 *              switch ((enum step)step) {
 *              case ASK:
 *                      return engine_lock(&actor->thread, my->lock, SITE);
 *              case COUNT:
 *                      my->seen++;
 *                      return engine_run(&actor->thread, 100);
 *              case LEAVE:
 *                      engine_return(&actor->thread, my->seen);
 *                      return engine_unlock(&actor->thread, my->lock);
 *              }
 *              return SWS_ERROR_BROKEN;
 *      }
 *
 *      int example__visit(struct actor *actor, uint32_t lock)    the function to be called;
 *      {                                                         the caller's next step has
 *              const struct visit frame = { .lock = lock };      its result in thread.result
 *
 *              return engine_call(&actor->thread, visit, &frame, sizeof(frame));
 *      }
 *
 * A step creates at most one event, and calls at most one procedure. A procedure that returns and
 * calls in one step is replaced by the called one; its frame is then gone.
 *
 * The bytes of the stack while visit has called section (engine.c), with 16 before each frame:
 *
 *      0             16         24             40                             64
 *      | visit, step | lock,    | section,     | action, subject, lock, site  |
 *      | no caller   |     seen | step, 0      |                              |
 *                               ^ top                                          ^ end
 *
 * The last step of section returns: end is 24, top is 0, and visit continues with its next step.
 * With plain C calls each actor would need a thread, because it stops within calls, and the order
 * of threads is not reproducible.
 */
#ifndef SWAPSIM_ENGINE_ENGINE_H
#define SWAPSIM_ENGINE_ENGINE_H

#include "swapsim/des.h"

#include <string.h>

enum {
	/* Bytes of the frames of an actor. */
	ENGINE_STACK = 2048,
	ENGINE_ALIGNMENT = 8,
	ENGINE_EMPTY = UINT16_MAX,
};

/* An actor; defined by the user of the engine, with a struct engine_thread as its first member. */
struct actor;

typedef int engine_procedure(struct actor *actor, void *frame, uint32_t step);

/* The work under a lock, done when the lock is acquired; the lock is then held for *ns. */
typedef int engine_action(struct actor *actor, void *subject, uint64_t *ns);

/* A call site of a lock; the user has a table of them. */
struct engine_site {
	const char *name;
	bool irq_save;
};

struct engine {
	struct sws_des *des;
	const struct engine_site *sites;
	/* Range of the random variation of work outside of locks, in percent. */
	uint32_t spread_percent;
};

/* The header before a procedure's frame on the stack. */
struct engine_frame {
	engine_procedure *procedure;
	uint32_t step;
	/* The frame below, ENGINE_EMPTY for none. */
	uint16_t caller;
};

struct engine_thread {
	struct engine *engine;
	struct sws_generator generator;
	uint32_t cpu;
	/* The result of the procedure that was called last. */
	uint32_t result;
	/* The reason for the sleep, a number of the user. */
	uint32_t sleeps_for;
	/* True if a step has created an event or gone to sleep. */
	bool waits;
	/* True if it has no event until another thread wakes it. */
	bool asleep;
	/* True if it sleeps until it is woken or until dozes_until, at which it has an event. */
	bool dozes;
	uint64_t dozes_until;
	/* Time that des.h counts as run, but that was spent waiting for a known moment. */
	uint64_t awaited_ns;
	uint16_t top;
	uint16_t end;
	_Alignas(ENGINE_ALIGNMENT) unsigned char stack[ENGINE_STACK];
};

/* Initializes a thread with an empty stack and its own random stream. */
void sws_engine__begin(struct engine *engine, struct engine_thread *thread, uint32_t cpu,
		       uint64_t seed);

/* Runs a thread whose event has occurred, until a step has created the next event. */
int sws_engine__resume(struct engine_thread *thread);

/*
 * Takes a lock, calls the action on its subject, holds the lock for the action's time, and releases
 * it.
 */
int sws_engine__under(struct engine_thread *thread, uint32_t lock, uint32_t site,
		      engine_action *action, void *subject);

/* Returns the times of the thread's CPU; waits for known moments count as idle. */
struct sws_des_cpu sws_engine__time_of(const struct engine_thread *thread);

static inline uint64_t engine_now(const struct engine *engine)
{
	return sws_des_now(engine->des);
}

/* Spends ns; 0 creates no event. */
static inline int engine_run(struct engine_thread *thread, uint64_t ns)
{
	if (!ns)
		return SWS_OK;
	thread->waits = true;
	return sws_des_run(thread->engine->des, thread->cpu, ns);
}

/*
 * As engine_run for work of random length, uniform around ns: 1000 ns with a spread of 10 % take
 * 900 to 1100, 201 values. Without a spread a number is also drawn, so that later draws do not
 * change.
 */
static inline int engine_work(struct engine_thread *thread, uint64_t ns)
{
	const uint64_t spread = ns * thread->engine->spread_percent / 100;

	return engine_run(thread,
			  ns - spread + sws_generator_below(&thread->generator, 2 * spread + 1));
}

/* Waits for ns, which counts as idle time. */
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

/* Continues when the other CPU has taken an interrupt. */
static inline int engine_interrupt(struct engine_thread *thread, uint32_t other, uint64_t sent,
				   uint32_t site)
{
	thread->waits = true;
	return sws_des_interrupt(thread->engine->des, thread->cpu, other, sent, site);
}

/* Sleeps until another thread wakes this one. */
static inline int engine_sleep(struct engine_thread *thread, uint32_t for_what)
{
	thread->waits = true;
	thread->asleep = true;
	thread->sleeps_for = for_what;
	return SWS_OK;
}

/* As engine_sleep, but for at most ns, after which sws_engine__resume ends the sleep. */
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

/* Sets the next step of the current procedure. */
static inline void engine_go(struct engine_thread *thread, uint32_t step)
{
	engine_top(thread)->step = step;
}

/* Returns from the current procedure. */
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

/* Calls a procedure with a copy of its frame. */
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
