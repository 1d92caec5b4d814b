/* SPDX-License-Identifier: BSD-2-Clause */
/* Other observers that already slow the system calls measured here. */
#ifndef TOLL_OTHERS_H
#define TOLL_OTHERS_H

/* How many BPF programs of others are attached to the system-call tracepoints by a link (a classic
 * tracepoint's program is counted where it is loaded, for the kernel tells only that). Needs
 * CAP_SYS_ADMIN: -EPERM without it; another -errno where the kernel can't tell. */
int others__attached(void);

#endif
