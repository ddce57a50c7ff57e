package org.sparkcollectives;

/** Groups made from groups, over every path between ranks. */
abstract class GroupsContractTest extends PathsUnderTest
    implements NewGroupsContract,
        SubgroupOptionsContract,
        GroupHandlesContract,
        GroupEndsContract {}
