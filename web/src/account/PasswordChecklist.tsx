import { passwordRules } from '@robokids/contracts/password'
import styles from './PasswordChecklist.module.css'

const rules: Record<keyof typeof passwordRules, string> = {
  length: 'At least 8 characters',
  capital: '1 capital letter',
  digit: '1 number',
  symbol: '1 special character',
}
const names = Object.keys(rules) as (keyof typeof rules)[]

/** Whether every rule is met. */
export const isPasswordGood = (password: string) => names.every((name) => passwordRules[name](password))

/** The password rules, each green once it is met. */
export function PasswordChecklist({ password }: { password: string }) {
  return (
    <ul className={styles.rules} aria-label="Password rules">
      {names.map((name) => {
        const met = passwordRules[name](password)
        return (
          <li key={name} className={met ? styles.met : undefined} data-met={met}>
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <circle cx="8" cy="8" r="7" />
              {met && <path d="m4.8 8.3 2.2 2.2 4.2-4.6" />}
            </svg>
            {rules[name]}
            <span className="visually-hidden">{met ? ', done' : ', not yet'}</span>
          </li>
        )
      })}
    </ul>
  )
}
