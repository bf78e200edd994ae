/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slots/replay/trial.c - one hold of the model, which can be undone.
 *
 * In 6.1 with the base 10, no cluster free, and 12, 14 and 16 free, the rows contain 14:
 *
 *      slot              10 11 12 13 14 15 16     in use   base
 *      begin_trial        #  #  .  #  .  #  .      1020      10
 *      run: 12            #  #  #  #  .  #  .      1021      13
 *      differs: undo      #  #  .  #  .  #  .      1020      10
 *      run from 14        #  #  .  #  #  #  .      1021      15     fits, and remains
 *
 * The work counts of a trial are not undone, because they are not used here.
 */
#include "slots/replay/parts.h"

void sws_slot_replay__begin_trial(struct sws_slot_replay *self, uint32_t cpu)
{
	sws_slots__snapshot(self->device, cpu, &self->trial.before);
	self->trial.applied = true;
}

/* Frees only the slots that the call was given, so it has to be the call that the trial ran. */
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
