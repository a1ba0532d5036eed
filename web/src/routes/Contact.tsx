import { ContactForm } from '../components/ContactForm.tsx'
import { contact } from '../content/contact.ts'
import { ContentPage } from './ContentPage.tsx'

const showForm = () => <ContactForm />

export function Contact() {
  return <ContentPage content={contact} ownBlock={showForm} />
}
