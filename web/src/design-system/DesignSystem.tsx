import { registrationTerms } from '@robokids/contracts/offers'
import { type ReactNode, useState } from 'react'
import { PasswordChecklist } from '../account/PasswordChecklist.tsx'
import { HoldNote } from '../checkout/HoldNote.tsx'
import { PayBar } from '../checkout/PayBar.tsx'
import { WayOn } from '../checkout/WayOn.tsx'
import { DateCards } from '../classes/DateCards.tsx'
import { Loading } from '../frame/Loading.tsx'
import { MoreMenu } from '../frame/MoreMenu.tsx'
import { HeroSlider } from '../home/HeroSlider.tsx'
import { Accordion } from '../ui/Accordion.tsx'
import { Alert } from '../ui/Alert.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { type Accent, Card } from '../ui/Card.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { drawingNames } from '../ui/drawing-names.ts'
import { Drawing } from '../ui/Drawing.tsx'
import { Field } from '../ui/Field.tsx'
import { Icon, iconNames } from '../ui/Icon.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Select } from '../ui/Select.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Slideshow } from '../ui/Slideshow.tsx'
import { Steps } from '../ui/Steps.tsx'
import { TextArea } from '../ui/TextArea.tsx'
import { Toast, type Toasted } from '../ui/Toast.tsx'
import styles from './DesignSystem.module.css'

const colours = {
  'Paper and ink': ['paper', 'surface', 'sunken', 'ink', 'ink-soft', 'line', 'line-strong'],
  'To press': ['signal', 'signal-hover', 'on-signal', 'link', 'focus'],
  'To tell': ['done', 'done-tint', 'note', 'note-tint', 'wrong', 'wrong-tint'],
}
const accents: Accent[] = ['green', 'blue', 'violet', 'orange']
const sizes = ['h1', 'h2', 'h3', 'lead', 'body', 'small']
const spaces = ['s1', 's2', 's3', 's4', 's5', 's6', 's7', 's8', 's9']

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

const seat = { classType: 'basic', startDate: '2027-01-08', children: 1, siblingJoinsFree: false }
const dearer = registrationTerms({ ...seat, unitAmount: 45_000 })

function Overlays() {
  const [changed, setChanged] = useState(false)
  const [open, setOpen] = useState(false)
  const [message, setMessage] = useState<string | null>(null)
  const [toast, setToast] = useState<Toasted | null>(null)
  return (
    <div className={styles.row}>
      <Button variant="secondary" onClick={() => setOpen(true)}>
        Open a dialog
      </Button>
      <Button variant="secondary" onClick={() => setMessage('The last seat just went to another family.')}>
        Open an alert
      </Button>
      <Button variant="secondary" onClick={() => setChanged(true)}>
        Change a price
      </Button>
      <Button
        variant="secondary"
        onClick={() =>
          setToast({ text: 'Robot Spider is in your cart.', action: <Button variant="quiet">Undo</Button> })
        }
      >
        Show a toast
      </Button>
      <MoreMenu />
      <Toast message={toast} onClose={() => setToast(null)} />
      <Dialog open={open} title="Remove this passkey?" onClose={() => setOpen(false)}>
        <p>You can add it again later.</p>
        <Button onClick={() => setOpen(false)}>Remove</Button>
      </Dialog>
      <Alert message={message} onClose={() => setMessage(null)} />
      <WayOn
        from="form"
        wayOn={changed ? { kind: 'agree', agreement: { id: '', terms: dearer, validUntil: null } } : null}
        agreed={registrationTerms({ ...seat, unitAmount: 40_000 })}
        onAgree={() => setChanged(false)}
        onClose={() => setChanged(false)}
      />
    </div>
  )
}

function ClassDates() {
  const [date, setDate] = useState('')
  return (
    <div className={styles.wide}>
      <DateCards
        label="Start date"
        hint="Select a date: the program begins on it."
        name="date"
        length="6 weeks"
        dates={[10, 1, 0].map((seatsLeft, day) => ({ date: `2027-01-0${8 + day}`, startTime: '16:00', seatsLeft }))}
        value={date}
        error={date === '' ? 'Choose a date.' : undefined}
        onChoose={setDate}
      />
      <HoldNote />
      <PayBar
        total={
          <>
            <span>Total for 1 child</span>
            <strong>$400.00</strong>
          </>
        }
      >
        <Button>Continue to payment</Button>
      </PayBar>
    </div>
  )
}

/** Every component in each of its states: for developers. */
export function DesignSystem() {
  const [broken, setBroken] = useState(false)
  if (broken) throw new Error('This page was broken on purpose.')
  return (
    <div className={styles.page}>
      <h1>Design system</h1>
      {Object.entries(colours).map(([name, tokens]) => (
        <Part key={name} title={name}>
          <div className={styles.tiles}>
            {tokens.map((token) => (
              <div key={token} className={styles.tile}>
                <div className={styles.swatch} style={{ background: `var(--${token})` }} />
                <code>{`--${token}`}</code>
              </div>
            ))}
          </div>
        </Part>
      ))}
      <Part title="Type">
        {sizes.map((size) => (
          <p
            key={size}
            style={{
              fontSize: `var(--size-${size})`,
              ...(size.startsWith('h') ? { fontFamily: 'var(--heading)', fontWeight: 700 } : {}),
            }}
          >{`Build, code and test a robot: --size-${size}`}</p>
        ))}
        <code>digitalWrite(LED_PIN, HIGH);</code>
      </Part>
      <Part title="Space">
        <div className={styles.tiles}>
          {spaces.map((space) => (
            <div key={space} className={styles.tile}>
              <div className={styles.bar} style={{ width: `var(--${space})` }} />
              <code>{`--${space}`}</code>
            </div>
          ))}
        </div>
      </Part>
      <Part title="Signs">
        <div className={styles.row}>
          {iconNames.map((name) => (
            <span key={name} className={styles.tile}>
              <Icon name={name} size={24} /> {name}
            </span>
          ))}
        </div>
      </Part>
      <Part title="Buttons">
        {(['primary', 'secondary', 'quiet', 'danger'] as const).map((variant) => (
          <div key={variant} className={styles.row}>
            <Button variant={variant}>Enroll Now</Button>
            <Button variant={variant} pending>
              Enroll Now
            </Button>
            <Button variant={variant} disabled>
              Enroll Now
            </Button>
            <ButtonLink to="/robokidslanding" variant={variant}>
              View Classes
            </ButtonLink>
          </div>
        ))}
      </Part>
      <Part title="Fields">
        <div className={styles.wide}>
          <Field label="Child's name" defaultValue="Ivo" />
          <Field label="Apartment" optional hint="Where the package goes." />
          <Field label="ZIP code" defaultValue="9440" error="Enter a five-digit ZIP code." />
          <Field label="Email" defaultValue="maren@example.com" disabled />
          <Select label="Child's age" error="Choose an age.">
            <option value="">Select an age</option>
          </Select>
          <TextArea label="Message" hint="At most 5,000 characters." rows={3} />
          <TextArea label="Message" error="Message is required." rows={3} />
          <Checkbox label="I have read the waiver" />
          <Checkbox label="I have read the waiver" error="Please read and accept it." />
        </div>
        <PasswordChecklist password="robot2030" />
      </Part>
      <Part title="Class dates, and the price beside its button">
        <ClassDates />
      </Part>
      <Part title="Notices">
        <Notice title="Your seat is held while you pay.">
          <p>Nothing is charged before you confirm it.</p>
        </Notice>
        <Notice kind="success" title="You're registered" />
        <Notice kind="error" title="Your card was declined.">
          <p>Nothing was charged. Try another card.</p>
        </Notice>
      </Part>
      <Part title="Cards">
        <div className={styles.tiles}>
          <Card className={styles.words ?? ''}>Plain</Card>
          {accents.map((accent) => (
            <Card key={accent} accent={accent} className={styles.words ?? ''}>
              {accent}
            </Card>
          ))}
        </div>
      </Part>
      <Part title="Over the page">
        <Overlays />
      </Part>
      <Part title="Steps">
        <Steps current="waiver" />
      </Part>
      <Part title="Accordion">
        <Accordion
          items={[
            { question: 'What is in the kit?', answer: 'A board, a battery box, motors, sensors and wires.' },
            { question: 'Does my child need to know how to code?', answer: 'No. Level 1 begins with the first line.' },
          ]}
        />
      </Part>
      <Part title="Taking turns">
        <div className={styles.hero}>
          <HeroSlider />
        </div>
        <div className={styles.narrow}>
          <Slideshow
            label="drawings"
            intervalMs={5_000}
            slides={(['rover', 'arm', 'walker'] as const).map((name) => ({
              caption: name,
              picture: <Drawing of={name} />,
            }))}
          />
        </div>
      </Part>
      <Part title="Loading">
        <div className={styles.frame}>
          <Loading />
        </div>
        <Skeleton width="60%" height="2rem" />
      </Part>
      <Part title="Drawings">
        <div className={styles.tiles}>
          {drawingNames.map((name) => (
            <div key={name} className={styles.tile}>
              <Drawing of={name} />
              {name}
            </div>
          ))}
        </div>
      </Part>
      <Part title="Nothing there, and something wrong">
        <div className={styles.row}>
          <ButtonLink to={'/no-such-page' as '/'} variant="secondary">
            A page that is not there
          </ButtonLink>
          <Button variant="secondary" onClick={() => setBroken(true)}>
            A page that breaks
          </Button>
        </div>
      </Part>
    </div>
  )
}
