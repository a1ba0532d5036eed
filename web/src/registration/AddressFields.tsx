import type { ComponentProps } from 'react'
import { Field } from '../ui/Field.tsx'
import type { addressFields } from './sign-up-values.ts'
import styles from './SignUpForm.module.css'

interface AddressFieldsProps {
  /** What the form knows of a field: its id, name, value and error. */
  field: (name: (typeof addressFields)[number]) => Omit<ComponentProps<typeof Field>, 'label'>
}

/** The address that a kit is shipped to. */
export function AddressFields({ field }: AddressFieldsProps) {
  return (
    <fieldset className={styles.group}>
      <legend>Where to ship the kit</legend>
      <Field {...field('addressLine1')} label="Address line 1" autoComplete="address-line1" required />
      <Field {...field('addressLine2')} label="Address line 2" optional autoComplete="address-line2" />
      <div className={styles.place}>
        <Field {...field('city')} label="City" autoComplete="address-level2" required />
        <Field {...field('state')} label="State" autoComplete="address-level1" required />
        <Field
          {...field('zipCode')}
          label="Zip code"
          inputMode="numeric"
          autoComplete="postal-code"
          maxLength={10}
          required
        />
      </div>
    </fieldset>
  )
}
