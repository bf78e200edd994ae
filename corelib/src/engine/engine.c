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

int sws_engine__resume(struct engine_thread *thread)
{
	int error = SWS_OK;

	thread->waits = false;
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
