"""What in a table suggests that rows are not people who count alike: identifiers that repeat, copies, weights."""
