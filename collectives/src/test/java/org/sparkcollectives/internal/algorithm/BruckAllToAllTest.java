package org.sparkcollectives.internal.algorithm;

/** Tests {@link BruckAllToAll} by the contract of all-to-alls. */
class BruckAllToAllTest extends AllToAllContract {}
