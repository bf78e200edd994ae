/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/engine.h"

void sws_engine__begin(struct engine *engine, struct engine_thread *thread, uint32_t cpu,
		       uint64_t seed)
{
	thread->engine = engine;
	thread->cpu = cpu;
	thread->top = ENGINE_EMPTY;
	thread->end = 0;
	sws_generator_seed(&thread->generator, seed, cpu);
}

/*
 * The next step is set before the call: the called procedure is put on top of the stack, and
 * engine_go may still set another step. After the call the frame must not be used: the procedure
 * may have returned, and another frame may be in its place.
 */
int sws_engine__resume(struct engine_thread *thread)
{
	int error = SWS_OK;

	thread->waits = false;
	thread->asleep = false;
	thread->dozes = false;
	while (!error && !thread->waits) {
		struct engine_frame *frame = engine_top(thread);

		error = frame->procedure((struct actor *)thread, frame + 1, frame->step++);
	}
	return error;
}

struct sws_des_cpu sws_engine__time_of(const struct engine_thread *thread)
{
	struct sws_des_cpu time = sws_des_cpu_of(thread->engine->des, thread->cpu);

	time.run_ns -= thread->awaited_ns;
	time.idle_ns += thread->awaited_ns;
	return time;
}

/*
 * A section over time: it requests the lock at 0, acquires it at 130, and its action takes 100 ns.
 *
 *      TAKE            0      engine_lock
 *      ACT             130    the action changes the state at once, then engine_run(100)
 *      GIVE_BACK       230    engine_unlock; the caller of section continues at 230, too
 *
 * So between 130 and 230 the state is already that of 230. Actors that request the lock cannot see
 * the difference, and actors that read the state without the lock see the complete result early,
 * never a part of it. An action of 0 ns creates no event, and GIVE_BACK follows at 130.
 */
enum step { TAKE, ACT, GIVE_BACK };

struct section {
	engine_action *action;
	void *subject;
	uint32_t lock;
	uint32_t site;
};

static int section(struct actor *actor, void *frame, uint32_t step)
{
	struct engine_thread *thread = (struct engine_thread *)actor;
	const struct section *my = frame;
	const uint32_t lock = my->lock;
	uint64_t ns = 0;
	int error = SWS_OK;

	switch ((enum step)step) {
	case TAKE:
		return engine_lock(thread, lock, my->site);
	case ACT:
		error = my->action(actor, my->subject, &ns);
		return error ? error : engine_run(thread, ns);
	case GIVE_BACK:
		engine_leave(thread);
		return engine_unlock(thread, lock);
	}
	return SWS_ERROR_BROKEN;
}

int sws_engine__under(struct engine_thread *thread, uint32_t lock, uint32_t site,
		      engine_action *action, void *subject)
{
	const struct section frame = {
		.action = action,
		.subject = subject,
		.lock = lock,
		.site = site,
	};

	return engine_call(thread, section, &frame, sizeof(frame));
}
