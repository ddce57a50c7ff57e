/** Trains LightGBM models in the ranks of a barrier stage, over the collectives of their group. */
package org.sparkcollectives.lightgbm;
