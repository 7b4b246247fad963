/* Paper graphs: the two published ten-task examples, as JSON. The first is also
 * yk_graph_heft_example_json.
 */
#ifndef YK_TESTS_PAPER_GRAPHS_H
#define YK_TESTS_PAPER_GRAPHS_H

/* Arabnejad and Barbosa, "List scheduling algorithm for heterogeneous systems by an optimistic cost
 * table", 2014, figure 2. */
extern const char paper_graph_peft[];

#endif
