/** LightGBM's C interface, and its network over a group. */
package org.sparkcollectives.lightgbm.internal;
