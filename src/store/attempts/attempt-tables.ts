import {
  attemptColumns,
  type ColumnName,
  columnNames,
  sqlName,
  sqlTypes,
} from '../../attempt/columns.ts'
import { flagSql, flags } from '../../attempt/flags.ts'
import { literal } from '../literal.ts'
import {
  columnsOf,
  type Form,
  forms,
  numberOf,
  rowColumns,
  sharedColumnsOf,
  sharedTables,
  type TableColumn,
} from './layout.ts'

/** SQL for the tables of attempts and the views that join them. */
export function attemptTablesSql(): string {
  const names = columnNames.map(sqlName)
  const flagNames = Object.keys(flags) as readonly (keyof typeof flags)[]
  return [
    ...sharedTables.map((table) => tableSql(table, sharedColumnsOf(table))),
    ...forms.map((form) => tableSql(form.table, columnsOf(form))),
    `CREATE VIEW all_rows AS ${forms.map(selectSql).join(' UNION ALL ')}`,
    `CREATE VIEW attempts AS SELECT ${names.join(', ')}
     FROM all_rows JOIN request_kinds USING (request_kind) JOIN endings USING (ending)`,
    ...columnNames.map(
      (name) =>
        `COMMENT ON COLUMN attempts.${sqlName(name)} IS ${literal(attemptColumns[name].description)}`,
    ),
    `CREATE VIEW attempt_flags AS
     SELECT run_id, slot, retry, ${flagNames.map((name) => `${flagSql(name)} AS ${sqlName(name)}`).join(', ')}
     FROM attempts`,
  ].join(';\n')
}

function tableSql(table: string, columns: readonly TableColumn[]): string {
  const lines = columns.map(({ name, type, nullable }) => {
    // Text of rows is ids, which never repeat. Compressing them costs more than all other columns.
    const packing = type === 'VARCHAR' && isRows(table) ? ' USING COMPRESSION uncompressed' : ''
    return `${name} ${type}${nullable ? '' : ' NOT NULL'}${packing}`
  })
  return `CREATE TABLE ${table} (${lines.join(', ')})`
}

const isRows = (table: string) => forms.some((form) => form.table === table)

/** Selects the rows of a form in the shape of the row type. */
function selectSql(form: Form): string {
  const own = form.struct ? 'own.' : ''
  const numbers = sharedTables.map((table) => `${own}${numberOf[table]} AS ${numberOf[table]}`)
  const cells = rowColumns.map((name) => `${cellSql(form, name)} AS ${sqlName(name)}`)
  return `SELECT ${[...numbers, ...cells].join(', ')} FROM ${form.table}`
}

function cellSql(form: Form, name: ColumnName): string {
  const { kind } = attemptColumns[name]
  if (!form.struct || kind === 'text') return sqlName(name)
  const cell = `own.${sqlName(name)}`
  switch (form.encodingOf(name)) {
    case 'same':
      return cell
    case 'whole':
      return `${cell}::${sqlTypes[kind]}`
    case 'since-intended':
      return `own.intended_us + ${cell}`
  }
}
