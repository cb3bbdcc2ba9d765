/** How an engine writes a variable of a session in SQL. */
export type Variable = (name: string) => string

/** As the store has it: `SET VARIABLE` sets it. */
export const sessionVariable: Variable = (name) => `getvariable('${name}')`
