# SPDX-License-Identifier: GPL-2.0-or-later
# Runs PROGRAM, by EMULATOR if there is one; fails where it fails or prints anything but the
# text in EXPECTED.
execute_process(COMMAND ${EMULATOR} "${PROGRAM}" OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ "${EXPECTED}" expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "${EXPECTED} is not what was printed:\n${printed}")
endif()
