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
 * The step behind is set before the call: what the procedure calls comes on top, and
 * engine_go may still name another one. After the call the frame is not looked at again:
 * it may have been left, and another may lie in its place.
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
 * A section by time: it asks at 0, has the lock at 130, and its action says 100 ns.
 *
 *      TAKE            0      engine_lock
 *      ACT             130    the action changes the world at once, then engine_run(100)
 *      GIVE_BACK       230    engine_unlock; whoever called section goes on at 230, too
 *
 * So between 130 and 230 the world is that of 230: those who ask for the lock cannot
 * tell, and those who look without it see the end of the work early, never half of it.
 * An action of 0 ns makes no event, and GIVE_BACK comes at 130.
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
