/**
 * Records, statistics and labels of the operations of groups: what a rank did, where it runs, and
 * how far it came. Plain values and the interfaces that return them; groups return them, and
 * nothing here needs a group.
 */
package org.sparkcollectives.diagnostics;
