/**
 * `= any(…)` of a list of ids that comes as JSON. Postgres knows the length of an array and would plan anew for each;
 * of JSON it guesses always the same, so that the statement is planned once.
 */
export const idsIn = (parameter: string) => `any(array(select json_array_elements_text(${parameter}::json)))`
