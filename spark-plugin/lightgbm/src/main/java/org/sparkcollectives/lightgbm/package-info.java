/** LightGBM over the collectives of a group. */
package org.sparkcollectives.lightgbm;
