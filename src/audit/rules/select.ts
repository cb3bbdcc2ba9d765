import { UserError } from '../../user/user-error.ts'
import type { Rule } from '../rule.ts'
import { allRules } from './list.ts'

/**
 * @param wanted ids such as `BILL-11` or families such as `BILL`, in any case; empty for all
 * @param option that named them, for the error
 * @throws UserError naming the unknown ones
 */
export function selectRules(wanted: readonly string[], option = '--rule'): readonly Rule[] {
  if (wanted.length === 0) return allRules
  const names = wanted.map((name) => name.toUpperCase())
  const known = (name: string) => allRules.some((rule) => answersTo(rule, name))
  const strangers = names.filter((name) => !known(name))
  if (strangers.length > 0) {
    const families = [...new Set(allRules.map((rule) => familyOf(rule.id)))]
    throw new UserError(
      'usage',
      `${option}: no rule is called ${strangers.join(', ')}. Expected an id such as ${allRules[0]?.id}, or a family: ${families.join(', ')}.`,
    )
  }
  return allRules.filter((rule) => names.some((name) => answersTo(rule, name)))
}

const familyOf = (id: string) => id.slice(0, id.indexOf('-'))
const answersTo = (rule: Rule, name: string) => rule.id === name || familyOf(rule.id) === name
