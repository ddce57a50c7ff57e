/** Messages between two ranks, and the matching of sends with receives. */
package org.sparkcollectives.internal.pointtopoint;
