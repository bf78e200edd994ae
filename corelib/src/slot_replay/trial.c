/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slot_replay/trial.c - one hold of the model's, which can be taken back.
 */
#include "slot_replay/parts.h"

void sws_slot_replay__begin_trial(struct sws_slot_replay *self, uint32_t cpu)
{
	sws_slots__snapshot(self->device, cpu, &self->trial.before);
	self->trial.applied = true;
}

void sws_slot_replay__undo_trial(struct sws_slot_replay *self, const struct sws_slots_call *call)
{
	if (self->trial.applied)
		sws_slots__restore(self->device, &self->trial.before, call);
	self->trial.applied = false;
}

int sws_slot_replay__run(struct sws_slot_replay *self, uint32_t cpu, struct sws_slots_call *call)
{
	int error = SWS_OK;

	while (!error && call->state < SWS_CALL_DONE && call->state != SWS_CALL_RECLAIM)
		error = sws_slots_call_next(self->device, cpu, call, &self->work);
	return error;
}
