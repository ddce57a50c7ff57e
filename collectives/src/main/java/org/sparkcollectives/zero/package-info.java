/** Shares the state of an optimizer among the ranks: each keeps that of its own parameters only. */
package org.sparkcollectives.zero;
