package org.sparkcollectives;

/** Runs the contracts of groups that are made from groups. */
abstract class GroupsContractTest extends PathsUnderTest
    implements NewGroupsContract,
        SubgroupOptionsContract,
        GroupHandlesContract,
        GroupEndsContract {}
