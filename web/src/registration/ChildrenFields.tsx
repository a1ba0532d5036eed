import { maxChildren } from '@robokids/contracts/children'
import { useRef } from 'react'
import { flushSync } from 'react-dom'
import type { LevelOffer } from '../classes/class-offer.ts'
import type { FieldErrors } from '../forms/field-errors.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { childField, fieldsInOrder } from './sign-up-fields.ts'
import { type ChildValues, isEmptyChild, noChild } from './sign-up-values.ts'
import styles from './SignUpForm.module.css'

interface ChildrenFieldsProps {
  /** Undefined while loading, and when that fails. */
  offer: LevelOffer | undefined
  values: ChildValues[]
  /** The children that the account has registered before, to fill in. */
  family?: readonly ChildValues[]
  errors: FieldErrors
  /** The id of a field in the document. */
  idOf: (field: string) => string
  /** @param fields those whose errors the change makes untrue. */
  onChange: (values: ChildValues[], ...fields: string[]) => void
}

/** The children of a family: one, and up to three siblings. */
export function ChildrenFields({ offer, values, family = [], errors, idOf, onChange }: ChildrenFieldsProps) {
  const addSibling = useRef<HTMLButtonElement>(null)
  const field = (name: string) => ({ id: idOf(name), name, error: errors[name] })
  const changeNumber = (children: ChildValues[]) =>
    // The fields of siblings are numbered: an error must not move to another child.
    onChange(children, ...fieldsInOrder(maxChildren).filter((name) => name.startsWith('siblings.')))
  return (
    <fieldset className={styles.group}>
      <legend>{`Your ${values.length > 1 ? 'children' : 'child'}`}</legend>
      {values.map((child, index) => {
        const set = (changes: Partial<ChildValues>, name: keyof ChildValues) =>
          onChange(
            values.map((entry, at) => (at === index ? { ...entry, ...changes } : entry)),
            childField(index, name),
          )
        const others = family.filter(({ childName }) => !values.some((one) => one.childName === childName))
        const rows = (
          <>
            {isEmptyChild(child) && others.length > 0 && (
              <div className={styles.known}>
                <span>Fill in:</span>
                {others.map((known) => (
                  <Button
                    key={known.childName}
                    variant="secondary"
                    onClick={() => {
                      set(known, 'childName')
                      document.getElementById(idOf(childField(index, 'childName')))?.focus()
                    }}
                  >
                    <span translate="no">{known.childName}</span>
                  </Button>
                ))}
              </div>
            )}
            <div className={styles.child}>
              <Field
                {...field(childField(index, 'childName'))}
                label="Child's first name"
                value={child.childName}
                onChange={(event) => set({ childName: event.target.value }, 'childName')}
                autoComplete="off"
                required
              />
              <Field
                {...field(childField(index, 'childAge'))}
                label="Child's age"
                value={child.childAge}
                onChange={(event) => set({ childAge: event.target.value }, 'childAge')}
                inputMode="numeric"
                autoComplete="off"
                maxLength={4}
                required
              />
            </div>
            {offer && <AgeNotice child={child} offer={offer} />}
          </>
        )
        if (index === 0) return <div key={index}>{rows}</div>
        return (
          <fieldset key={index} className={styles.sibling}>
            <legend>{`Sibling ${values.length > 2 ? index : ''}`}</legend>
            {rows}
            <Button
              variant="quiet"
              onClick={() => {
                flushSync(() => changeNumber(values.filter((_, at) => at !== index)))
                addSibling.current?.focus()
              }}
            >{`Remove ${child.childName.trim() || 'this sibling'}`}</Button>
          </fieldset>
        )
      })}
      {values.length < maxChildren && (
        <div className={styles.add}>
          <Button
            ref={addSibling}
            variant="secondary"
            onClick={() => {
              const index = values.length
              flushSync(() => changeNumber([...values, noChild]))
              document.getElementById(idOf(childField(index, 'childName')))?.focus()
            }}
          >
            Add a sibling
          </Button>
          <p className={styles.aside}>
            {offer?.siblingJoinsFree
              ? 'Enroll one child and a sibling joins free.'
              : 'Register brothers and sisters for the same class together.'}
          </p>
        </div>
      )}
    </fieldset>
  )
}

function AgeNotice({ child, offer }: { child: ChildValues; offer: LevelOffer }) {
  const age = /^[0-9]{1,3}$/.test(child.childAge.trim()) ? Number(child.childAge) : undefined
  const { from, to } = offer.recommendedAges
  if (age === undefined || age < 5 || (age >= from && age <= to)) return null
  return (
    <Notice live>
      <p>{`We made this class for ages ${from} to ${to}. ${child.childName.trim() || 'Your child'} is ${age < from ? 'younger' : 'older'} but still welcome${age < from ? '; it helps to sit together for the first sessions' : ''}.`}</p>
    </Notice>
  )
}
