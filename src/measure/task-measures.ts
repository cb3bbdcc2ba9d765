import { sqlName } from '../attempt/columns.ts'

/** Measures of a task, over a row of `tasks`, in microseconds. */
export const taskMeasures = {
  task: {
    title: 'task',
    summary: 'from the planned start of the task to the end of its last request',
    value: 'ended_us - intended_us',
  },
  taskService: {
    title: 'task service',
    summary: 'the same without the delays on the path of requests that decided the end',
    value: 'ended_us - intended_us - wait_us',
  },
} as const
export type TaskMeasureName = keyof typeof taskMeasures

/** How a task counts: SQL over a row of `tasks`. */
export const taskStandings = {
  judged: {
    sql: `outcome <> 'stopped' AND skipped = 0`,
    summary:
      'it started at its start, and did not end with the run: the denominator of task_success',
  },
  succeeded: {
    sql: `outcome = 'ok' AND skipped = 0`,
    summary: 'it is judged, and all of its requests succeeded before its deadline',
  },
  cut: {
    sql: `outcome = 'deadline' AND skipped = 0`,
    summary: 'its deadline cut it off, so that its times count as at least so long',
  },
} as const

/** SQL: `task_values` has a column for each. */
export const taskViews = `
CREATE OR REPLACE VIEW task_values AS
SELECT tasks.*,
  ${Object.entries(taskStandings)
    .map(([name, { sql }]) => `(${sql}) AS ${name}`)
    .join(',\n  ')},
  ${Object.entries(taskMeasures)
    .map(
      ([name, { value }]) =>
        `CASE WHEN outcome IN ('ok', 'deadline') AND skipped = 0 THEN ${value} END AS ${sqlName(name)}_us`,
    )
    .join(',\n  ')}
FROM tasks;`
