/**
 * An id of several columns is their values with `/` between them. In all but the first, a `/` of the value itself is `~1` and a `~` is
 * `~0`, so two different lists of values never become one id; an id whose only slashes are in its first value is that text.
 */
export const joinedId = (values: readonly string[]): string =>
  values
    .map((value, at) => (at === 0 ? value : value.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/')

/** The same in SQL. @param values SQL for texts, none of them null */
export const joinedIdSql = (values: readonly string[]): string =>
  values
    .map((value, at) => (at === 0 ? value : `replace(replace(${value}, '~', '~0'), '/', '~1')`))
    .join(` || '/' || `)
