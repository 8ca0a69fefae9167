//! `#[derive(Tree)]`: a struct of trees is a tree, its fields in order.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Index, parse_macro_input, parse_quote};

/// Implements `cotangent::Tree` for a struct whose fields are all trees; type parameters must be trees too.
#[proc_macro_derive(Tree)]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    expand(parse_macro_input!(input as DeriveInput)).into()
}

fn expand(mut input: DeriveInput) -> Tokens {
    let Data::Struct(data) = &input.data else {
        return quote_spanned! { input.ident.span() => compile_error!("Tree can be derived for structs only"); };
    };
    let members: Vec<Tokens> = data
        .fields
        .iter()
        .enumerate()
        .map(|(i, f)| match &f.ident {
            Some(name) => quote!(#name),
            None => {
                let index = Index { index: i as u32, span: f.span() };
                quote!(#index)
            }
        })
        .collect();
    for p in input.generics.type_params_mut() {
        p.bounds.push(parse_quote!(::cotangent::Tree));
    }
    let name = &input.ident;
    let text = name.to_string();
    let (generics, of, bounds) = input.generics.split_for_impl();
    quote! {
        impl #generics ::cotangent::Tree for #name #of #bounds {
            fn leaves<'__tree>(&'__tree self, _out: &mut ::std::vec::Vec<&'__tree ::cotangent::TracedTensor>) {
                #(::cotangent::Tree::leaves(&self.#members, _out);)*
            }

            fn rebuild(
                &self,
                _leaves: &mut dyn ::std::iter::Iterator<Item = ::cotangent::TracedTensor>,
            ) -> Self {
                Self { #(#members: ::cotangent::Tree::rebuild(&self.#members, _leaves)),* }
            }

            fn structure(&self, out: &mut ::std::string::String) {
                out.push_str(#text);
                out.push('(');
                #(::cotangent::Tree::structure(&self.#members, out);)*
                out.push(')');
            }
        }
    }
}
