import { ContentPage } from '../reading/ContentPage.tsx'
import { contact } from './contact-content.ts'
import { ContactForm } from './ContactForm.tsx'

const showForm = () => <ContactForm />

export function Contact() {
  return <ContentPage content={contact} ownBlock={showForm} />
}
