/* SPDX-License-Identifier: MIT */
#ifndef GT_CUDART_PEERS_H
#define GT_CUDART_PEERS_H

/* Gives a device access to the memory of another, and takes it. Each returns a code. */
int gt_peers_enable(int device, int peer, unsigned flags);
int gt_peers_disable(int device, int peer);

#endif
